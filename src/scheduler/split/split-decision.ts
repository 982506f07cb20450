import type { Decision } from "../../domain/decision.ts";
import type { UnitId } from "../../domain/ids.ts";
import type { LoadVector } from "../../domain/load.ts";
import { DEFAULT_SPLIT_POLICY, type SplitPolicy } from "./buckets.ts";
import { nextParts } from "./next-parts.ts";
import type { SplitCapacity, SplitPlan, Splitting } from "./plan-split.ts";

/** What the number of a workspace's parts rests on. */
export interface SplitFacts {
  readonly before: number;
  readonly after: number;
  readonly load: LoadVector;
  readonly target: LoadVector;
  readonly roomySince: number | null;
  /** The most that there may be: one for each instance, and one for each bucket. */
  readonly most: number;
  /** The fewest: parts that were placed are kept. */
  readonly fewest: number;
  readonly held: number;
  /** How long fewer must have been enough, in ms; absent in entries of before: seven days. */
  readonly mergeAfterMs?: number;
}

interface Split {
  readonly subject: UnitId;
  readonly before: Splitting;
  readonly plan: SplitPlan;
  readonly load: LoadVector;
  readonly capacity: SplitCapacity;
  readonly policy?: SplitPolicy;
}

/** The journal's entry for a workspace whose number of parts changes; `undefined`: it does not change. */
export function splitDecision({ subject, before, plan, load, capacity, policy = DEFAULT_SPLIT_POLICY }: Split): Decision | undefined {
  if (plan.parts === before.parts) return undefined;
  const { roomySince = null } = before;
  const placed = before.units.filter(({ isPlaced }) => isPlaced).map(({ part }) => part + 1);
  const details: SplitFacts = {
    ...{ before: before.parts, after: plan.parts, load, target: capacity.target, roomySince, held: plan.held.length },
    ...{ most: Math.min(capacity.candidates, Object.keys(plan.deal).length), fewest: Math.max(1, ...placed) },
    mergeAfterMs: policy.mergeAfterMs,
  };
  const [verdict, rule] = plan.parts > before.parts ? ["SPLIT", "LARGEST_UNIT"] : ["MERGED", "SLACK"];
  return { at: capacity.now, subject, kind: "placement", verdict: verdict as string, rule: rule as string, details: { ...details } };
}

/** Whether the recorded number of parts follows from what was recorded with it. */
export function reviewSplit({ at, verdict, details }: Decision): boolean {
  const {
    before,
    after,
    load,
    target,
    roomySince,
    most,
    fewest,
    mergeAfterMs = DEFAULT_SPLIT_POLICY.mergeAfterMs,
  } = details as unknown as SplitFacts;
  const since = roomySince === null ? undefined : (roomySince as SplitCapacity["now"]);
  const next = nextParts({ parts: before, roomySince: since }, { now: at, load, target }, { ...DEFAULT_SPLIT_POLICY, mergeAfterMs });
  return Math.max(fewest, Math.min(next.parts, most)) === after && verdict === (after > before ? "SPLIT" : "MERGED");
}
