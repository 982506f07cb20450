import { sha256 } from "../../domain/hash.ts";
import type { PlannedMove } from "../../domain/plan.ts";
import { buildRing } from "../hash-ring.ts";
import type { RingSource } from "../ring-memo.ts";
import { planFill } from "./fill.ts";
import { forcedOf, planForced } from "./forced.ts";
import { lowerBoundOf } from "./lower-bound.ts";
import { DEFAULT_PLANNER_POLICY, type PlannerPolicy } from "./planner-policy.ts";
import { openPlanning } from "./planning.ts";
import type { MoveRecord } from "./record.ts";
import { balanceOf, type PlanReport, reportOf } from "./report.ts";
import { planRelief } from "./shed.ts";
import { type PlanSnapshot, snapshotHash } from "./snapshot.ts";

export interface Plan {
  /** Content hash of the snapshot it was made from. */
  readonly snapshotHash: string;
  /** Content hash of snapshot and moves: the same snapshot and policy give the same plan, wherever and however often. */
  readonly planHash: string;
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
  const { policy = DEFAULT_PLANNER_POLICY, ringOf = buildRing } = options;
  const planning = openPlanning(snapshot, policy, ringOf);
  const forced = forcedOf(planning);
  const before = { balance: balanceOf(planning.book), lowerBound: lowerBoundOf(planning.book, forced, { at: snapshot.at, policy }) };
  planForced(planning, forced);
  planRelief(planning);
  planFill(planning);
  const { moves, records } = planning;
  const hash = snapshotHash(snapshot);
  return { snapshotHash: hash, planHash: planHash(hash, moves), moves, records, report: reportOf(planning, before) };
}

/** A plan is the same when it makes the same moves in the same order of the same snapshot. */
function planHash(snapshot: string, moves: readonly PlannedMove[]): string {
  const lines = moves.map(({ unit, from, to, epoch, reason }) => `${unit} ${from ?? "-"} ${to} ${epoch} ${reason}`);
  return sha256([snapshot, ...lines].join("\n")).slice(0, 32);
}
