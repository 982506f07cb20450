import type { Millis } from "../../domain/clock.ts";
import type { Decision } from "../../domain/decision.ts";
import type { Directive, Freeze } from "../../domain/directive.ts";
import type { PoolSpec, RebalancingSpec } from "../../domain/fleet.ts";
import type { WorkspaceGroups } from "../../domain/groups.ts";
import type { InstanceVerdict } from "../../domain/health.ts";
import type { InstanceId, PlanId, UnitId } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
import type { LoadVector } from "../../domain/load.ts";
import type { CarriedStep, MoveReason, StoredPlan } from "../../domain/plan.ts";
import type { PlacementUnit } from "../../domain/workspace.ts";
import type { ClassLoadState, InstanceLoad, KnownLoad } from "../load/port.ts";

/** A unit as plans are made with it. */
export interface UnitFacts {
  readonly unit: PlacementUnit;
  readonly namespace: string;
  /** What its workspace demands of whoever serves it. */
  readonly trustClass: string;
  /** Of its workspace; absent: it is in none. */
  readonly groups?: WorkspaceGroups;
  readonly known: KnownLoad | undefined;
  readonly directive: Directive;
  /** Addresses of the users' clusters it deploys to, sorted. */
  readonly clusters: readonly string[];
  /** Where a live move takes it that has not changed its owner yet. */
  readonly movingTo: InstanceId | undefined;
  /** When it was moved last. */
  readonly movedAt: Millis | undefined;
  /** Whether its instance holds, or may hold, anything of its applications: then only a live move may move it. */
  readonly isDeployed: boolean;
}

export interface DoneMove {
  readonly unit: UnitId;
  readonly from: InstanceId;
  readonly to: InstanceId;
  readonly reason: MoveReason;
  readonly at: Millis;
}

/** Everything about one class that plans are made from, read at one moment. */
export interface PlanFacts {
  readonly class: string;
  /** The oldest version that is safe, as declared; absent before a fleet is. */
  readonly floor: string | undefined;
  /** How it is evened out, as declared; absent: that is not declared. */
  readonly rebalancing: RebalancingSpec | undefined;
  /** Its pools whose size is decided by load, in the order of the declaration. */
  readonly scaled: readonly PoolSpec[];
  /** Its pools that let resources of their instances be raised, in the same order. */
  readonly raisable: readonly PoolSpec[];
  /** Those that are not retired, sorted by id. */
  readonly instances: readonly Instance[];
  /** Sorted by id. */
  readonly units: readonly UnitFacts[];
  readonly instanceLoads: readonly InstanceLoad[];
  readonly freezes: readonly Freeze[];
  readonly state: ClassLoadState;
  /** Moves of the class since a moment, newest first. */
  readonly moves: readonly DoneMove[];
  /** What was said last of the health of its instances. */
  readonly verdicts: readonly Pick<InstanceVerdict, "instanceId" | "state" | "at">[];
  /** Live moves of the class that were given up since then, had begun, and were given up by no person; newest first. */
  readonly failures: readonly FailedMove[];
}

/** A live move that failed before its commit. */
export interface FailedMove {
  readonly unit: UnitId;
  readonly to: InstanceId;
  readonly at: Millis;
}

/** One step of a plan, to be made if the rows still are as the plan saw them. */
export interface UnitMove {
  readonly unitId: UnitId;
  readonly from: InstanceId;
  readonly to: InstanceId;
  readonly epoch: number;
  readonly reason: MoveReason;
  /** Largest load the target may have with the unit on it. */
  readonly ceiling: LoadVector;
  readonly plan: PlanId;
  readonly decision: Decision;
}

export type MoveOutcome =
  | { readonly kind: "moved"; readonly epoch: number }
  /** The target filled up, or is not ACTIVE. */
  | { readonly kind: "full" }
  /** The unit was moved, or is gone. */
  | { readonly kind: "stale" }
  /** Something of it stands on its instance, or may: it takes a live move. */
  | { readonly kind: "deployed" };

/** Whose steps: of one plan, or of every plan that was made since to empty the instance of that name. */
export type StepsOf = { readonly plan: PlanId } | { readonly drained: string; readonly since: Millis };

/** Plans, what they are made from, and the moves that need no hand-over. Written by the scheduler. */
export interface PlanStore {
  /** Classes that have an instance that is not retired, or a unit; sorted. */
  listClasses(signal: AbortSignal): Promise<readonly string[]>;
  readFacts(className: string, movesSince: Millis, signal: AbortSignal): Promise<PlanFacts>;
  /** Keeps a plan with its entry in the journal. */
  record(plan: StoredPlan, decision: Decision, signal: AbortSignal): Promise<void>;
  read(id: PlanId, signal: AbortSignal): Promise<StoredPlan | undefined>;
  /** Newest first. */
  list(filter: { readonly class?: string }, limit: number, signal: AbortSignal): Promise<readonly StoredPlan[]>;
  /** Keeps what carrying a plan out came to, instead of what was kept of these steps before, and when; with its entry in the journal. */
  recordApplied(id: PlanId, steps: readonly CarriedStep[], decision: Decision, signal: AbortSignal): Promise<void>;
  /** Steps that were carried out, of each unit that of the newest plan; sorted by unit. */
  listSteps(of: StepsOf, signal: AbortSignal): Promise<readonly CarriedStep[]>;
  /**
   * Gives a unit of which nothing is deployed another owner and a new epoch, under the lock of the target's row: its state and
   * what it holds are tested as they are then, so that two schedulers never overfill it. What was to be written for the unit on
   * its old instance is not wanted any more. Notifies `unit` and each of its applications, and journals the decision.
   */
  commitMove(move: UnitMove, signal: AbortSignal): Promise<MoveOutcome>;
}
