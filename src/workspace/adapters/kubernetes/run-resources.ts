import { USER_KINDS } from "../../api/names.ts";
import type { RunResources } from "../../sync-run/port.ts";
import { createWatchedKind, type WatchedKindOptions, watchedTypeOf } from "./watched-kind.ts";

export const SYNC_RUNS = watchedTypeOf(USER_KINDS.syncRun);

/** Watches all GitOpsDeploymentSyncRuns of the cluster that `client` speaks to. */
export function createRunResources(options: Omit<WatchedKindOptions, "kind">): RunResources {
  return createWatchedKind({ ...options, kind: USER_KINDS.syncRun });
}
