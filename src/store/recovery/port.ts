import type { Decision } from "../../domain/decision.ts";
import type { InstanceId, UnitId } from "../../domain/ids.ts";
import type { UnitPhase } from "../../domain/workspace.ts";

/** Where a unit lives as far as the database knows. */
export interface UnitToRecover {
  readonly id: UnitId;
  readonly namespace: string;
  /** Of several parts of a workspace, which. */
  readonly bucket: number;
  readonly owner: InstanceId;
  readonly epoch: number;
  readonly phase: UnitPhase;
}

export interface RecoveredOwner {
  /** As it was read. */
  readonly unit: UnitToRecover;
  readonly owner: InstanceId;
  /** What a move of it that has not ended ends with. */
  readonly message: string;
  readonly decision: Decision;
}

/** Brings a database that is older than what it wrote up to what stands. For the time in which no control plane runs. */
export interface RecoveryStore {
  /** The newest epoch that was given to anything. */
  readLastEpoch(signal: AbortSignal): Promise<number>;
  /** From now on epochs are newer than this one; none is ever given twice. */
  raiseEpochs(above: number, signal: AbortSignal): Promise<void>;
  /** The next so many units that have an owner after an id, sorted by it. */
  listPlaced(page: { readonly after: string; readonly limit: number }, signal: AbortSignal): Promise<readonly UnitToRecover[]>;
  /**
   * Gives a unit its owner, under a new epoch and IDLE: everything of it is wanted there anew, whatever was acknowledged. A move of it that
   * has not ended is ABORTED. Journals the decision. False: the unit is not as it was read.
   */
  recordOwner(change: RecoveredOwner, signal: AbortSignal): Promise<boolean>;
}
