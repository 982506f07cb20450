import type { Millis } from "../../domain/clock.ts";
import type { ApplicationId, InstanceId } from "../../domain/ids.ts";
import type { RunPhase, RunProgress, SyncRun } from "../../domain/sync-run.ts";
import type { Application } from "../../domain/workspace.ts";

/** What one GitOpsDeploymentSyncRun asks for; nothing of it ever changes but which application its deployment is. */
export interface RunIntent {
  readonly uid: string;
  readonly apiCluster: string;
  readonly namespace: string;
  readonly name: string;
  /** Uid of the deployment it names; absent while there is none. */
  readonly deploymentUid: string | undefined;
  readonly revision: string;
  readonly prune: boolean;
  readonly createdAt: Millis;
}

/** A run as the workspace controllers need it to show its user how things stand. */
export interface RunView {
  readonly run: SyncRun;
  /** Absent while the run has no application, and again once that is gone. */
  readonly application: Application | undefined;
  /** Whether an instance holds the application: nobody else can say anything about a run. */
  readonly isPlaced: boolean;
  /** Unfinished runs of the same application that go first. */
  readonly ahead: number;
  /** Hash of the status last written; empty before the first. */
  readonly publishedHash: string;
  /** Rises with each change of the run; given back by `recordPublished`. */
  readonly viewRevision: number;
}

export interface RunPublication {
  readonly uid: string;
  readonly hash: string;
  readonly viewRevision: number;
}

export interface KnownRun {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly phase: RunPhase;
  readonly finishedAt: Millis | undefined;
  /** Its user has been shown the latest. */
  readonly isPublished: boolean;
}

/** How far a run has come, as the instance says that holds its application under this epoch. */
export interface RunReport {
  readonly uid: string;
  readonly instanceId: InstanceId;
  readonly epoch: number;
  readonly requestedAt: Millis | undefined;
  readonly progress: RunProgress;
}

/**
 * Runs of syncs. The workspace controllers make, cancel and forget them; the reconciler says how far they have come. What has ended
 * stays as it ended. Each change notifies `sync-run`; what an instance has to act on notifies `sync-queue` too.
 */
export interface SyncRunStore {
  /**
   * Makes rows that are not there yet. One that has not begun, and whose application is not there (any more), gets the application
   * of the deployment it names, if that is recorded and not being deleted.
   */
  record(intents: readonly RunIntent[], signal: AbortSignal): Promise<void>;
  /** Marks unfinished runs as cancelled. One whose application no instance holds, or holds no longer, ends at once, as `Terminated`. */
  cancel(uids: readonly string[], signal: AbortSignal): Promise<void>;
  /** Ends unfinished runs whose application no instance holds, as `Failed`; leaves all others to their instance. */
  giveUp(entries: readonly { readonly uid: string; readonly message: string }[], signal: AbortSignal): Promise<void>;
  /** Removes rows of runs that have ended. */
  forget(uids: readonly string[], signal: AbortSignal): Promise<void>;
  readViews(uids: readonly string[], signal: AbortSignal): Promise<readonly RunView[]>;
  recordPublished(entries: readonly RunPublication[], signal: AbortSignal): Promise<void>;
  /** Every run of one API cluster, sorted by uid, for the sweep that compares them with the resources that exist. */
  listKnown(apiCluster: string, signal: AbortSignal): Promise<readonly KnownRun[]>;
  /**
   * Unfinished runs of these applications, for each those that run first, then the cancelled ones, then the others in the order of
   * their creation; at most 50 each.
   */
  readQueues(ids: readonly ApplicationId[], signal: AbortSignal): Promise<readonly SyncRun[]>;
  /** Applications these instances hold that have unfinished runs, sorted; at most `limit`. */
  listBusy(instanceIds: readonly InstanceId[], limit: number, signal: AbortSignal): Promise<readonly ApplicationId[]>;
  /** Records how far unfinished runs have come; what comes from an instance or epoch that no longer owns the unit is dropped. */
  recordReports(reports: readonly RunReport[], signal: AbortSignal): Promise<void>;
}
