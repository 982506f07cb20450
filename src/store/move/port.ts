import type { Decision } from "../../domain/decision.ts";
import type { Environment } from "../../domain/environment.ts";
import type { InstanceId, MoveId, PlanId, UnitId } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
import type { LoadVector } from "../../domain/load.ts";
import type { Move, MoveBaseline, MoveKind, MovePhase } from "../../domain/move.ts";
import type { MoveMessage } from "../../domain/move-messages.ts";
import type { MoveReason } from "../../domain/plan.ts";
import type { Application, PlacementUnit, Workspace } from "../../domain/workspace.ts";

/** What somebody wants moved. */
export interface RequestedMove {
  readonly id: MoveId;
  readonly unitId: UnitId;
  readonly to: InstanceId;
  /** The unit's epoch as it was seen. */
  readonly epoch: number;
  readonly kind: MoveKind;
  readonly reason: MoveReason;
  readonly plan: PlanId | undefined;
  readonly reverses: MoveId | undefined;
  readonly isFailOver: boolean;
  readonly actor: string;
  /** Largest load the target may have with the unit on it. */
  readonly ceiling: LoadVector;
  readonly decision: Decision;
}

export type MoveRequest =
  | { readonly kind: "requested" }
  /** It is being moved, or waits for that, under this id, and that is not where a fail-over would take it from. */
  | { readonly kind: "moving"; readonly id: MoveId }
  /** The target filled up, or is not ACTIVE. */
  | { readonly kind: "full" }
  /** Another part of its workspace on the same instance takes applications over from it, or it from that one: it may leave afterwards. */
  | { readonly kind: "kept" }
  /** The unit was moved since, lives there already, or is gone. */
  | { readonly kind: "stale" };

export type MoveBeginning =
  | "begun"
  /** An application of the unit is being deleted: that ends first, but for a fail-over, whose source may never end it. */
  | "leaving"
  /** The unit was moved or went, or the target takes nothing any more: the move has ended. */
  | "dropped"
  /** It does not wait any more. */
  | "stale";

export interface MoveAdvance {
  readonly from: MovePhase;
  readonly to: MovePhase;
  readonly message: string;
  /** Absent: the message says nothing that is decided by. */
  readonly messageCode?: MoveMessage["messageCode"];
  /** Kept where it is given. */
  readonly baseline?: readonly MoveBaseline[];
}

export interface MoveFilter {
  /** Those that have not ended, only. */
  readonly isLive?: boolean;
  readonly unitId?: UnitId;
  /** Steps of this plan, only. */
  readonly plan?: PlanId;
  /** To or from this instance, only. */
  readonly instanceId?: InstanceId;
}

/** The rows that a step of a move is decided from, as they were at one moment. */
export interface MoveRows {
  readonly move: Move;
  /** Absent: it is not there any more. */
  readonly source: Instance | undefined;
  readonly target: Instance | undefined;
  readonly unit: MovedUnit;
  /** Parts on the source that took applications over from the unit there, and stay; sorted. */
  readonly takers: readonly UnitId[];
}

export interface MovedUnit {
  readonly unit: PlacementUnit;
  readonly workspace: Workspace;
  /** Those its applications deploy to, or are being deleted from, sorted by id. */
  readonly environments: readonly Environment[];
  /** Every application of it, sorted by id, those that are being deleted too; each with the environment that its destination names. */
  readonly applications: readonly { readonly application: Application; readonly environment: Environment | undefined }[];
}

/**
 * Live moves: one for a unit at a time. Every change of a phase is conditional on the phase before it, so that of several workers one
 * makes it; each notifies `move`. While a move is from PREPARE to VERIFY its unit's phase is MOVING.
 */
export interface MoveStore {
  /**
   * Records that a unit is to be moved, under the lock of the target's row: capacity is reserved for it from now on. Journals the decision. What is
   * a fail-over ends, in the same transaction, a move that brought the unit under this epoch to where it is: after COMMIT nobody else needs it.
   */
  request(request: RequestedMove, signal: AbortSignal): Promise<MoveRequest>;
  /** Takes the move's epoch from the global sequence and the unit for the move. Notifies `unit` too. */
  begin(id: MoveId, signal: AbortSignal): Promise<MoveBeginning>;
  /** False: it is in another phase by now. One that gives the unit back notifies `unit` and each of its applications too. */
  advance(id: MoveId, advance: MoveAdvance, signal: AbortSignal): Promise<boolean>;
  /** Says what it waits for in this phase; the message's code is WAITS. */
  note(id: MoveId, phase: MovePhase, message: string, signal: AbortSignal): Promise<void>;
  /**
   * The point of no return, from COMMIT to GRANT: the target owns the unit under the move's epoch, its objects are wanted there and not
   * on the source any more, the decision is journaled; `class` is notified where the unit has another one now. False: it is in another phase by now.
   */
  commit(id: MoveId, decision: Decision, signal: AbortSignal): Promise<boolean>;
  /**
   * Gives a move up before COMMIT: the source owns the unit under a newer epoch than the move's, and everything of it is wanted there
   * again. One that waits has ended with that; another one empties its target in ABORT. False: it is too late, or it has ended.
   */
  abort(
    id: MoveId,
    why: Pick<MoveAdvance, "message" | "messageCode"> & { readonly decision: Decision },
    signal: AbortSignal,
  ): Promise<boolean>;
  read(id: MoveId, signal: AbortSignal): Promise<Move | undefined>;
  /** Newest first. */
  list(filter: MoveFilter, limit: number, signal: AbortSignal): Promise<readonly Move[]>;
  /** All that have not ended, of the fleet or to or from one instance, however many; newest first. A unit has one at most. */
  listLive(filter: Pick<MoveFilter, "instanceId">, signal: AbortSignal): Promise<readonly Move[]>;
  /** Addresses of the users' clusters that each of these units deploys to, sorted; units without are left out. */
  listClusters(unitIds: readonly UnitId[], signal: AbortSignal): Promise<ReadonlyMap<UnitId, readonly string[]>>;
  /** All that is to be known before a step of a move, in one statement; `undefined` once the move, or its unit, is gone. */
  readRows(id: MoveId, signal: AbortSignal): Promise<MoveRows | undefined>;
}
