import { type Millis, millis, parseRfc3339 } from "../../domain/clock.ts";
import { isFinished, type SyncRun } from "../../domain/sync-run.ts";
import type { ObservedNamespace, ObservedResource } from "../../domain/user-resource.ts";
import { isWorkspace, type WorkspacePolicy } from "../workspace-policy.ts";
import { parseRun } from "./parse-run.ts";

export interface RunFacts {
  readonly resource: ObservedResource | undefined;
  /** The resource's namespace; absent when it is gone or, while the resource is there, not seen yet. */
  readonly namespace: ObservedNamespace | undefined;
  /** Uids this name is known to have had; every one but the present one's is gone for certain. */
  readonly knownUids: readonly string[];
  readonly policy: Pick<WorkspacePolicy, "selector" | "everyNamespace" | "instanceNamespaces">;
}

export interface RunPlan {
  /** Runs whose resource is gone: they are cancelled, and forgotten once they have ended. */
  readonly gone: readonly string[];
  /** The resource is being deleted: its run is cancelled. */
  readonly isCancelled: boolean;
  /** What the resource asks for, to be recorded. */
  readonly record: { readonly uid: string; readonly revision: string; readonly prune: boolean; readonly createdAt: Millis } | undefined;
  /** Whether the resource is in a workspace, so that its user hears of it. */
  readonly isOurs: boolean;
}

/**
 * What to do about one name in a namespace. Runs of other uids than the present one's are gone. A valid resource is recorded; a
 * paused one is left until it is not, unless it was recorded before; one that is being deleted asks for nothing more.
 */
export function planRun({ resource, namespace, knownUids, policy }: RunFacts): RunPlan {
  const plan = { gone: knownUids.filter((uid) => uid !== resource?.uid), isCancelled: false, record: undefined, isOurs: false };
  // Where there is a resource there is a namespace: another watch reports it, and has not yet.
  if (resource === undefined || namespace === undefined || !isWorkspace(namespace, policy)) return plan;
  if (resource.isDeleting || namespace.isDeleting) return { ...plan, isCancelled: true, isOurs: true };
  const parsed = parseRun(resource);
  if (!parsed.ok || resource.isPaused) return { ...plan, isOurs: true };
  const { revision, prune } = parsed.request;
  return { ...plan, record: { uid: resource.uid, revision, prune, createdAt: createdAt(resource) }, isOurs: true };
}

function createdAt(resource: ObservedResource): Millis {
  return parseRfc3339(resource.createdAt) ?? millis(0);
}

/**
 * How long a recorded run may wait for its deployment, or for an instance with capacity for it, in ms. A run that an instance knows of waits by
 * the instance's rules.
 */
const WAIT_LIMIT_MS = 60 * 60_000;

/** Why a run that no instance knows of has to end without having begun; `undefined` while it has not. */
export function whyGiveUp(
  run: SyncRun,
  found: { readonly isPlaced: boolean; readonly hasApplication: boolean },
  now: Millis,
): string | undefined {
  if (isFinished(run.progress.phase) || found.isPlaced) return undefined;
  if (run.progress.phase === "Running" && !found.hasApplication) return "The deployment was deleted while the sync ran";
  if (now - run.recordedAt <= WAIT_LIMIT_MS) return undefined;
  return found.hasApplication
    ? "There was no room for the deployment for an hour: create another run when there is"
    : "The deployment did not exist for an hour: create another run when it does";
}

/** When a finished run is to be deleted, as its user asked. */
export function dueAt(run: SyncRun, resource: Pick<ObservedResource, "spec">): Millis | undefined {
  const parsed = parseRun(resource);
  const { finishedAt } = run.progress;
  if (!parsed.ok || parsed.request.ttlMs === undefined || finishedAt === undefined) return undefined;
  return millis(finishedAt + parsed.request.ttlMs);
}
