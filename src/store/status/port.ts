import type { ApplicationId } from "../../domain/ids.ts";
import type { RecordedStatus } from "../../domain/status.ts";

/** Written by the reconciler: what the instances say of their applications. */
export interface StatusStore {
  /**
   * Upserts a batch and notifies `status` for each changed hash. A status that comes from an instance or epoch that no
   * longer owns the unit is dropped, as is one that the engine said before the one recorded (`reconciledAt`, and `version` within one second): a writer
   * that was held up is late, whatever it brings. Returns the ids whose hash changed.
   */
  recordStatuses(statuses: readonly RecordedStatus[], signal: AbortSignal): Promise<readonly ApplicationId[]>;
}
