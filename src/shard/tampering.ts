import { LABEL_MANAGED_BY, LABEL_UNIT } from "../domain/names.ts";
import type { ShardObject } from "../domain/shard-object.ts";
import type { PlacementUnit, Workspace } from "../domain/workspace.ts";
import type { ObjectAction } from "./diff-object.ts";
import type { DesiredObject, ObservedObject } from "./managed-object.ts";
import type { LastWrite, ObservedBinding } from "./parse-rights.ts";

/** What somebody did to an owner binding, and with what they wrote, where the object says it. */
export interface Tampering {
  readonly what: "edited" | "replaced" | "deleted";
  readonly by: LastWrite | undefined;
}

/** One observation of an owner binding on the way to what it should be. */
export interface TamperingObservation {
  readonly observed: ObservedBinding | undefined;
  readonly step: ObjectAction<ObservedBinding>["kind"];
}

/**
 * Judges whether an owner binding was changed by somebody else since it was acknowledged (`known`), from what was seen of it until it
 * `settled`. What an earlier version of ours wrote is as it was acknowledged, and no tampering; before the first acknowledgement under
 * this epoch nothing of ours is known to have stood.
 */
export function judgeTampering(
  observations: readonly TamperingObservation[],
  {
    desired,
    settled,
    known,
  }: { readonly desired: DesiredObject; readonly settled: ObservedObject; readonly known: ShardObject | undefined },
): Tampering | undefined {
  if (known === undefined || known.epoch !== desired.fence?.epoch) return undefined;
  const isAnother = settled.uid !== known.uid;
  const foreign = observations.find((observation) => isForeign(observation, desired, known))?.observed;
  if (foreign !== undefined) return { what: isAnother || foreign.uid !== known.uid ? "replaced" : "edited", by: foreign.lastWrite };
  return isAnother ? { what: "deleted", by: undefined } : undefined;
}

function isForeign({ observed, step }: TamperingObservation, desired: DesiredObject, known: ShardObject): boolean {
  if (observed === undefined || step === "settled" || step === "await-end") return false;
  if (step === "fenced" || ![known.hash, desired.contentHash].includes(observed.contentHash)) return true;
  return [LABEL_MANAGED_BY, LABEL_UNIT].some((label) => observed.labels[label] !== desired.labels[label]);
}

/**
 * Whether the rows of `other`, the unit that a binding with a newer fence claims to be of, bear that fence out: a namespace that was made
 * anew is another workspace, and its unit's binding has the name that the former one's had. One that is being moved has given its fence an
 * epoch that its row gets at COMMIT only.
 */
export function isBorneOutBy(
  other: { readonly unit: Pick<PlacementUnit, "epoch" | "phase">; readonly workspace: Pick<Workspace, "namespace"> } | undefined,
  seen: Pick<ObservedObject, "at" | "epoch">,
): boolean {
  if (other === undefined || other.workspace.namespace !== seen.at.namespace) return false;
  return other.unit.phase === "MOVING" || other.unit.epoch >= (seen.epoch ?? 0);
}

/** Tampering with one owner binding that was not reported yet. */
export interface Repairs {
  readonly count: number;
  /** Epoch milliseconds. */
  readonly firstAt: number;
  readonly last: Tampering;
}

/** Repairs reported so far, and one more. */
export function addRepair(before: Repairs | undefined, last: Tampering, now: number): Repairs {
  return { count: (before?.count ?? 0) + 1, firstAt: before?.firstAt ?? now, last };
}

/** What was done, how often and with what, as a sentence for SREs. */
export function repairsText({ count, last: { what, by } }: Repairs): string {
  const times = count === 1 ? what : `changed ${count} times, last ${what},`;
  const writer =
    by === undefined
      ? "the object does not say by whom"
      : `${by.operation} of field manager "${by.manager}" at ${by.at || "no time given"}`;
  return `the owner binding was ${times} and put back; ${writer}; the API server's audit log says who`;
}

/** Repairs of one owner binding that are made at once. */
const BURST = 10;
/** So many more are made in this time, in ms. */
const WINDOW_MS = 10_000;

/** Times of the last repairs of an owner binding, in ms of a clock that only grows, with this one. */
export function afterRepair(times: readonly number[], nowMs: number): readonly number[] {
  return [...times, nowMs].slice(-BURST);
}

/**
 * How long the next repair waits, in ms: whoever changes a binding in a loop is answered ten times in ten seconds, and does not get a
 * write of ours for each of theirs.
 */
export function repairWaitMs(times: readonly number[], nowMs: number): number {
  const [oldest] = times;
  return times.length < BURST || oldest === undefined ? 0 : Math.max(0, oldest + WINDOW_MS - nowMs);
}
