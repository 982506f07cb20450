import type { PoolCapacityView } from "../api/routes/capacity.ts";
import { countText } from "../domain/count-text.ts";
import { age, timeText } from "./age.ts";
import { raisedText } from "./columns.ts";
import type { Column } from "./table.ts";

/** `argosy capacity`: how many instances pools have, and by what that is decided. */
export const capacity: readonly Column<PoolCapacityView>[] = [
  { title: "POOL", value: (row) => row.pool, fit: "name" },
  { title: "BOUNDS", value: (row) => (row.scaling === "auto" ? `${row.min}–${row.max}` : "fixed") },
  { title: "WANTS", value: (row) => (row.shortSince === null ? row.wanted : `${row.wanted}, more`) },
  { title: "SERVING", value: (row) => `${row.serving} of ${row.instances}` },
  { title: "24 H", value: (row) => percentOf(row.expected?.soon) },
  { title: "48 H", value: (row) => percentOf(row.expected?.later) },
  { title: "N-1", value: (row) => percentOf(row.expected?.withoutOne) },
  { title: "FOR", value: (row) => (row.since === null ? null : age(row.since)), isClock: true },
  { title: "CLASS", value: (row) => row.class, isWide: true },
  { title: "SPARE SINCE", value: (row) => (row.spareSince === null ? null : timeText(row.spareSince)), isWide: true },
  { title: "REASON", value: (row) => row.reason, isWide: true },
  { title: "RAISED", value: (row) => raisedOf(row.raising), isWide: true },
  { title: "SHORT OF", value: (row) => shortOf(row.raising), isWide: true },
  { title: "PEAK", value: (row) => (row.peaks.length === 0 ? null : row.peaks.map(peakText).join("; ")), fit: "text" },
];

/** `standard-1 controller.memory 6Gi`: which instances have more than their pool declares. */
function raisedOf(raising: PoolCapacityView["raising"]): string | null {
  const instances = raising?.instances ?? [];
  const texts = instances.map(
    ({ instance, raised, underWay }) => `${instance} ${raisedText(raised) ?? ""}${underWay ? " (under way)" : ""}`,
  );
  return texts.length === 0 ? null : texts.join("; ");
}

/** `standard-1 controller.memory, of which it has 8Gi`: which instances ran out of what they cannot be given. */
function shortOf(raising: PoolCapacityView["raising"]): string | null {
  const limited = raising?.limited ?? [];
  return limited.length === 0
    ? null
    : limited.map(({ instance, amount, given }) => `${instance} ${amount}, of which it has ${given}`).join("; ");
}

/** `mornings from 2026-11-27T07:00:00Z until 2026-11-27T10:00:00Z: 1.5 times as much`. */
function peakText({ name, from, until, factor, instances }: PoolCapacityView["peaks"][number]): string {
  const asked = instances === null ? `${factor} times as much` : `at least ${countText(instances, "instance")}`;
  return `${name} from ${timeText(from)} until ${timeText(until)}: ${asked}`;
}

function percentOf(share: number | undefined): string | null {
  if (share === undefined) return null;
  return share >= 10 ? ">999 %" : `${Math.round(share * 100)} %`;
}
