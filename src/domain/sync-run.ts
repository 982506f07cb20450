import type { Millis } from "./clock.ts";
import type { ApplicationId } from "./ids.ts";

export const RUN_PHASES = ["Pending", "Running", "Succeeded", "Failed", "Terminated"] as const;
export type RunPhase = (typeof RUN_PHASES)[number];

/** What became of one hook of a sync. */
export interface HookResult {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** PreSync, Sync, PostSync or SyncFail. */
  readonly type: string;
  /** Running, Succeeded, Failed, Error or Terminating; empty while it has not begun. */
  readonly phase: string;
  readonly message: string;
}

/** Hooks whose results are kept. */
export const HOOK_LIMIT = 50;

/** How far a run has come. */
export interface RunProgress {
  readonly phase: RunPhase;
  readonly message: string;
  /** Revision that is, or was, deployed; empty while it is not known. */
  readonly revision: string;
  readonly startedAt: Millis | undefined;
  readonly finishedAt: Millis | undefined;
  /** At most {@link HOOK_LIMIT}. */
  readonly hooks: readonly HookResult[];
}

/** One GitOpsDeploymentSyncRun: one sync of one application, once. Its resource's uid is its id, also on the engine. */
export interface SyncRun {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  /** The application it syncs; absent until the deployment it names is recorded. */
  readonly applicationId: ApplicationId | undefined;
  /** Revision asked for; empty: the application's own. */
  readonly revision: string;
  readonly prune: boolean;
  readonly createdAt: Millis;
  /** When it was first recorded: it may have been paused before, or nobody was there to see it. */
  readonly recordedAt: Millis;
  /** Its resource is gone or going: what has not begun must not, what runs is terminated. */
  readonly isCancelled: boolean;
  /** When the engine was asked. */
  readonly requestedAt: Millis | undefined;
  readonly progress: RunProgress;
}

export function isFinished(phase: RunPhase): boolean {
  return phase !== "Pending" && phase !== "Running";
}

export const NOT_BEGUN: RunProgress = {
  phase: "Pending",
  message: "",
  revision: "",
  startedAt: undefined,
  finishedAt: undefined,
  hooks: [],
};
