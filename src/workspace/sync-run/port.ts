import type { ResourceAt, UserKindResources } from "../port.ts";

/** The GitOpsDeploymentSyncRuns of one API cluster. */
export interface RunResources extends UserKindResources {
  start(signal: AbortSignal): void;
  synced(signal: AbortSignal): Promise<void>;
  stopped(): Promise<void>;
  /** Deletes this very resource; resolves also when it is gone. `StaleError`: its name is another's now. */
  remove(resource: ResourceAt & { readonly uid: string }, signal: AbortSignal): Promise<void>;
}
