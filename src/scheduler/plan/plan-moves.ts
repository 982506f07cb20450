import { sha256 } from "../../domain/hash.ts";
import type { PlannedMove } from "../../domain/plan.ts";
import { complete, type Resumable } from "../../domain/resumable.ts";
import { buildRingInTurns } from "../hash-ring.ts";
import type { RingSource } from "../ring-memo.ts";
import { planFillInTurns } from "./fill.ts";
import { forcedInTurns, planForcedInTurns } from "./forced.ts";
import { lowerBoundInTurns } from "./lower-bound.ts";
import { DEFAULT_PLANNER_POLICY, type PlannerPolicy } from "./planner-policy.ts";
import { openPlanningInTurns } from "./planning.ts";
import type { MoveRecord } from "./record.ts";
import { balanceOf, type PlanReport, reportInTurns } from "./report.ts";
import { planReliefInTurns } from "./shed.ts";
import { type PlanSnapshot, snapshotHashInTurns } from "./snapshot.ts";

export interface Plan {
  /** In the order in which they are to be started. */
  readonly moves: readonly PlannedMove[];
  readonly records: readonly MoveRecord[];
  readonly report: PlanReport;
}

export interface PlanOptions {
  readonly policy?: PlannerPolicy;
  /** Saves building the ring anew; the plan does not depend on it. */
  readonly ringOf?: RingSource;
}

/**
 * Decides what should move, in three steps: what must leave where it is, what an overloaded or long overfull instance sheds, and what a
 * new instance takes. Between those limits nothing moves, however uneven the load is: a move disturbs its users, and an instance that
 * is not too full disturbs nobody.
 *
 * A pure function of the snapshot and the policy. The order of rows does not matter, and names of instances are for people:
 * ids alone decide. Every choice is recorded with the facts it rests on (`record.ts`).
 */
export function planMoves(snapshot: PlanSnapshot, options: PlanOptions = {}): Plan {
  return complete(planMovesInTurns(snapshot, options));
}

/** The same, with pauses. */
export function* planMovesInTurns(snapshot: PlanSnapshot, options: PlanOptions = {}): Resumable<Plan> {
  const { policy = DEFAULT_PLANNER_POLICY, ringOf = buildRingInTurns } = options;
  const planning = yield* openPlanningInTurns(snapshot, policy, ringOf);
  const forced = yield* forcedInTurns(planning);
  const lowerBound = yield* lowerBoundInTurns(planning.book, forced, { at: snapshot.at, policy });
  const before = { balance: balanceOf(planning.book), lowerBound };
  yield* planForcedInTurns(planning, forced);
  yield* planReliefInTurns(planning);
  yield* planFillInTurns(planning);
  const { moves, records } = planning;
  return { moves, records, report: yield* reportInTurns(planning, before) };
}

/** What a plan that is kept is known by. */
export interface PlanHashes {
  /** Content hash of the snapshot it was made from. */
  readonly snapshotHash: string;
  /** Content hash of snapshot and moves: the same snapshot and policy give the same plan, wherever and however often. */
  readonly planHash: string;
}

/**
 * A plan is the same when it makes the same moves in the same order of the same snapshot. It takes as long as all of planning: what is not kept, as a plan that
 * moves nothing, needs no hashes.
 */
export function* hashesInTurns(snapshot: PlanSnapshot, { moves }: Pick<Plan, "moves">): Resumable<PlanHashes> {
  const hash = yield* snapshotHashInTurns(snapshot);
  const lines = moves.map(({ unit, from, to, epoch, reason }) => `${unit} ${from ?? "-"} ${to} ${epoch} ${reason}`);
  return { snapshotHash: hash, planHash: sha256([hash, ...lines].join("\n")).slice(0, 32) };
}
