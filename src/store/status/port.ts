import type { ApplicationId } from "../../domain/ids.ts";
import type { RecordedStatus } from "../../domain/status.ts";

/** Written by the reconciler: what the instances say of their applications. */
export interface StatusStore {
  /**
   * Upserts a batch and notifies `status` for each changed hash. A status that comes from an instance or epoch that no
   * longer owns the unit is dropped. Returns the ids whose hash changed.
   */
  recordStatuses(statuses: readonly RecordedStatus[], signal: AbortSignal): Promise<readonly ApplicationId[]>;
}
