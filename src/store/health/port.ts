import type { Millis } from "../../domain/clock.ts";
import type { Decision } from "../../domain/decision.ts";
import type { HealthSample, InstanceVerdict } from "../../domain/health.ts";
import type { InstanceId, UnitId } from "../../domain/ids.ts";

export interface HealthRecord {
  readonly sample: HealthSample;
  readonly verdict: InstanceVerdict;
  /** Samples that are older than this are forgotten. */
  readonly keepSince: Millis;
  /** The journal's entry of a verdict that is another than before: there when the verdict is, and not otherwise. */
  readonly decision?: Decision | undefined;
}

/** What is known of an instance's health. */
export interface HealthWindow {
  /** Oldest first. */
  readonly samples: readonly HealthSample[];
  /** Absent: it was never judged. */
  readonly verdict: InstanceVerdict | undefined;
}

export interface NeverCompared {
  readonly instanceId: InstanceId;
  /** They are at least as old as this. */
  readonly madeBefore: Millis;
  /** No live move away from the instance has ended since. */
  readonly notMovedSince: Millis;
  readonly limit: number;
}

/** An instance with units of which an application cannot be compared. */
export interface Troubles {
  readonly instanceId: InstanceId;
  /** Units that the instance holds, in all. */
  readonly units: number;
  readonly troubledUnits: number;
}

/** Written by the health role: what was seen of instances, and what was made of it. */
export interface HealthStore {
  /**
   * Records observations of any instances. Of several of one instance each sample counts, and the newest verdict with its entry. A verdict older
   * than the recorded one changes nothing, and neither does one on an instance that is gone. One whose state is another than before notifies `verdict`.
   */
  record(observations: readonly HealthRecord[], signal: AbortSignal): Promise<void>;
  readWindow(instanceId: InstanceId, since: Millis, signal: AbortSignal): Promise<HealthWindow>;
  /** Of instances that are not retired, sorted by id. */
  listVerdicts(signal: AbortSignal): Promise<readonly InstanceVerdict[]>;
  /**
   * Units the instance holds that it has never compared with Git, though they have deployments, oldest first: none of those has a status
   * that says Synced or OutOfSync. Those that a live move takes away, or was to take away until lately, are left out.
   */
  listNeverCompared(wanted: NeverCompared, signal: AbortSignal): Promise<readonly UnitId[]>;
  /** Those of these instances that hold a unit with an application that they last said they cannot compare; sorted by id. */
  listTroubles(instanceIds: readonly InstanceId[], signal: AbortSignal): Promise<readonly Troubles[]>;
}
