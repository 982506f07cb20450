import type { Millis } from "./clock.ts";
import type { InstanceId, MoveId, PlanId, UnitId } from "./ids.ts";

/**
 * Why a unit is moved, in the order in which a plan does it. FORCED: it may not stay where it is, or is nowhere. HOT: its
 * instance is overloaded now. SHED: its instance has been too full for long. SWAP: one of two that change places because
 * neither fits alone. FILL: an instance that is new takes its share.
 */
export const MOVE_REASONS = ["FORCED", "HOT", "SHED", "SWAP", "FILL"] as const;
export type MoveReason = (typeof MOVE_REASONS)[number];

/** One step of a plan. Steps are started in the order of the plan, each checked again against the rows as they are then. */
export interface PlannedMove {
  readonly unit: UnitId;
  /** Absent: the unit had no owner. */
  readonly from: InstanceId | undefined;
  readonly to: InstanceId;
  /** The unit's epoch when the plan was made: another one means that somebody else moved it. */
  readonly epoch: number;
  readonly reason: MoveReason;
}

/** What carrying out one step of a plan came to. */
export const STEP_OUTCOMES = ["moved", "asked", "dropped"] as const;
export type StepOutcome = (typeof STEP_OUTCOMES)[number];

/** One step of a plan as it was carried out last: `moved` at once, `asked` for as a live move, or left. */
export interface CarriedStep {
  readonly unit: UnitId;
  /** What people called it when the plan was made. */
  readonly name: string;
  /** Absent: the unit had no owner. */
  readonly from: InstanceId | undefined;
  /** Absent: no instance had capacity. */
  readonly to: InstanceId | undefined;
  readonly reason: MoveReason;
  readonly outcome: StepOutcome;
  /** Why it was left; empty where it was not. */
  readonly why: string;
  /** The live move that was asked for. */
  readonly move: MoveId | undefined;
}

/**
 * What a plan is for: to even out what is uneven, to empty an instance, or to see what would follow if an instance came to a pool
 * or went. The last two are about a fleet that is not there, and are never carried out.
 */
export const PLAN_GOALS = ["rebalance", "drain", "add", "remove"] as const;
export type PlanGoal = (typeof PLAN_GOALS)[number];

/** A plan as it is kept: what would be moved, why, and until when that may be carried out. */
export interface StoredPlan {
  readonly id: PlanId;
  readonly class: string;
  readonly goal: PlanGoal;
  /** Name of the instance or pool the goal is about; empty for `rebalance`. */
  readonly subject: string;
  /** Content hash of the snapshot it was made from, and of that and its moves. */
  readonly snapshotHash: string;
  readonly planHash: string;
  /** Who asked for it. */
  readonly actor: string;
  readonly createdAt: Millis;
  /** Afterwards it is not carried out any more: too much may have changed. */
  readonly expiresAt: Millis;
  /** When it was carried out last; absent before the first time. */
  readonly appliedAt: Millis | undefined;
  readonly moves: readonly PlannedMove[];
  /** What each choice rests on, and why the plan is as it is, as the scheduler wrote them. */
  readonly records: readonly unknown[];
  readonly report: Readonly<Record<string, unknown>>;
}
