import type { Decision } from "../../domain/decision.ts";
import type { RolloutId } from "../../domain/ids.ts";
import type { FrozenVersion, Rollout } from "../../domain/rollout.ts";

export interface RolloutChange {
  /** Its `revision` is that which the change was decided on. */
  readonly rollout: Rollout;
  /** For the journal; `undefined`: nothing was decided. */
  readonly decision: Decision | undefined;
  /** Keeps its version from being given to anybody. */
  readonly freezes?: string;
}

/** Rollouts of releases, and releases that failed. Written by the rollouts' role and by SREs' commands. */
export interface RolloutStore {
  /** Adds a rollout unless another one is live; returns the live one that stands in its way. */
  create(rollout: Rollout, decision: Decision, signal: AbortSignal): Promise<Rollout | undefined>;
  /**
   * Conditional on the revision; throws `StaleError` when the row has moved on. Notifies `rollout`. Returns the new row.
   */
  change(change: RolloutChange, signal: AbortSignal): Promise<Rollout>;
  read(id: RolloutId, signal: AbortSignal): Promise<Rollout | undefined>;
  /** The one that has not ended. */
  readLive(signal: AbortSignal): Promise<Rollout | undefined>;
  /** Newest first. */
  list(limit: number, signal: AbortSignal): Promise<readonly Rollout[]>;
  /** Sorted by version. */
  listFrozen(signal: AbortSignal): Promise<readonly FrozenVersion[]>;
  /** Returns whether the version was frozen; only then the decision is journaled. */
  unfreeze(version: string, decision: Decision, signal: AbortSignal): Promise<boolean>;
}
