import type { Millis } from "../../../../domain/clock.ts";
import type { ApplicationId } from "../../../../domain/ids.ts";
import type { HookResult, RunPhase, SyncRun } from "../../../../domain/sync-run.ts";

/** Columns of a run `r`, as {@link runOf} reads them. */
export const RUN = `r.uid as r_uid, r.namespace as r_namespace, r.name as r_name, r.application as r_application, r.revision as r_revision,
       r.prune as r_prune, r.created_at as r_created_at, r.recorded_at as r_recorded_at, r.is_cancelled as r_is_cancelled, r.requested_at as r_requested_at, r.phase as r_phase,
       r.message as r_message, r.synced_revision as r_synced_revision, r.started_at as r_started_at, r.finished_at as r_finished_at,
       r.hooks as r_hooks`;

/** Of a run `r`: it has not ended. In the words of the partial index. */
export const UNFINISHED = "r.phase in ('Pending', 'Running')";

export interface RunRow {
  readonly r_uid: string;
  readonly r_namespace: string;
  readonly r_name: string;
  readonly r_application: ApplicationId | null;
  readonly r_revision: string;
  readonly r_prune: boolean;
  readonly r_created_at: Millis;
  readonly r_recorded_at: Millis;
  readonly r_is_cancelled: boolean;
  readonly r_requested_at: Millis | null;
  readonly r_phase: RunPhase;
  readonly r_message: string;
  readonly r_synced_revision: string;
  readonly r_started_at: Millis | null;
  readonly r_finished_at: Millis | null;
  readonly r_hooks: readonly HookResult[];
}

export function runOf(row: RunRow): SyncRun {
  return {
    uid: row.r_uid,
    namespace: row.r_namespace,
    name: row.r_name,
    applicationId: row.r_application ?? undefined,
    revision: row.r_revision,
    prune: row.r_prune,
    createdAt: row.r_created_at,
    recordedAt: row.r_recorded_at,
    isCancelled: row.r_is_cancelled,
    requestedAt: row.r_requested_at ?? undefined,
    progress: {
      phase: row.r_phase,
      message: row.r_message,
      revision: row.r_synced_revision,
      startedAt: row.r_started_at ?? undefined,
      finishedAt: row.r_finished_at ?? undefined,
      hooks: row.r_hooks,
    },
  };
}
