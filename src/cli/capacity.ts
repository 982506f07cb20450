import type { PoolCapacityView } from "../api/routes/capacity.ts";
import { age, timeText } from "./age.ts";
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
];

function percentOf(share: number | undefined): string | null {
  if (share === undefined) return null;
  return share >= 10 ? ">999 %" : `${Math.round(share * 100)} %`;
}
