import type { Clock } from "../../../domain/clock.ts";
import { isFinished } from "../../../domain/sync-run.ts";
import type { ObservedResource } from "../../../domain/user-resource.ts";
import type { WorkResult } from "../../../runtime/keyed-queue.ts";
import type { RunView, SyncRunStore } from "../../../store/sync-run/port.ts";
import type { DoorPolicy } from "../../door-policy.ts";
import { parseKey } from "../../keys.ts";
import type { UserResources } from "../../port.ts";
import { parseRun } from "../parse-run.ts";
import { dueAt, planRun, type RunPlan, whyGiveUp } from "../plan-run.ts";
import type { RunResources } from "../port.ts";
import type { RunRows } from "../rows/controller.ts";
import type { RunIndex } from "../run-index.ts";
import type { RunPace } from "../run-pace.ts";
import { composeRun, isRunShown } from "../run-status.ts";

export interface RunControllerDeps {
  readonly syncRuns: Pick<SyncRunStore, "cancel" | "forget" | "giveUp">;
  readonly rows: RunRows;
  readonly index: RunIndex;
  readonly runs: RunResources;
  readonly resources: Pick<UserResources, "deployment" | "namespace">;
  readonly pace: RunPace;
  readonly policy: () => DoorPolicy;
  readonly clock: Clock;
}

type Standing = { readonly view: RunView | undefined; readonly dueInMs: number };
/** A deployment is recorded a moment after it is seen, and nothing tells the runs that wait for it: they look again this soon, in ms. */
const DEPLOYMENT_AGAIN_MS = 1_000;
/** Nothing waits longer than this for its next look, in ms; the sweep is no later. */
const LONGEST_WAIT_MS = 60_000;

/** Makes the row of one run equal to its resource, and its status equal to its row. Key: `cluster|namespace|name`. */
export function createRunController(deps: RunControllerDeps): (key: string, signal: AbortSignal) => Promise<WorkResult | void> {
  const { syncRuns, rows, index, runs, resources, pace, clock } = deps;

  const dismiss = async (key: string, uids: readonly string[], signal: AbortSignal): Promise<void> => {
    if (uids.length === 0) return;
    await syncRuns.cancel(uids, signal);
    await syncRuns.forget(uids, signal);
    for (const uid of uids) {
      pace.forget(uid);
      const left = await rows.readView(uid, signal);
      if (left === undefined) index.forgotten(key, uid);
      else index.recorded(key, rowOf(left));
    }
  };

  /** Returns in how many ms the workspace's quota lets it begin; it is recorded then. */
  const record = async (key: string, resource: ObservedResource, plan: RunPlan, signal: AbortSignal): Promise<number> => {
    if (plan.isCancelled) await syncRuns.cancel([resource.uid], signal);
    if (plan.record === undefined) return 0;
    const { cluster: apiCluster, namespace, name } = parseKey(key);
    const isNew = index.keyOf(resource.uid) === undefined;
    const place = { uid: resource.uid, workspace: namespace };
    const dueInMs = isNew ? pace.dueInMs(place, deps.policy().syncsPerMinute, clock.monotonicMs()) : 0;
    if (dueInMs === 0)
      await rows.record({ ...plan.record, apiCluster, namespace, name, deploymentUid: deploymentOf(resource)?.uid }, signal);
    return dueInMs;
  };

  const deploymentOf = (resource: ObservedResource): ObservedResource | undefined => {
    const parsed = parseRun(resource);
    return parsed.ok ? resources.deployment({ namespace: resource.namespace, name: parsed.wish.deployment }) : undefined;
  };

  const publish = async (resource: ObservedResource, { view, dueInMs }: Standing, signal: AbortSignal): Promise<void> => {
    const { hidden, syncsPerMinute } = deps.policy();
    const facts = { resource, record: view, hasDeployment: deploymentOf(resource) !== undefined, hidden };
    const composed = composeRun({ ...facts, quota: dueInMs === 0 ? undefined : syncsPerMinute }, clock.now());
    const isShown = isRunShown(resource, composed) && (view === undefined || view.publishedHash === composed.hash);
    if (!isShown) await runs.patchStatus(resource, composed.status, signal);
    if (view === undefined) return;
    await rows.recordPublished({ uid: view.run.uid, hash: composed.hash, viewRevision: view.viewRevision }, signal);
  };

  /** What becomes of a run whose user has been told. */
  const goOn = async (resource: ObservedResource, view: RunView, signal: AbortSignal): Promise<WorkResult | void> => {
    const due = dueAt(view.run, resource);
    if (due !== undefined && due <= clock.now()) return runs.remove(resource, signal);
    if (due !== undefined) return { requeueAfterMs: Math.min(due - clock.now(), LONGEST_WAIT_MS) };
    const isOrphan = view.application === undefined && !isFinished(view.run.progress.phase);
    if (isOrphan && deploymentOf(resource) !== undefined) return { requeueAfterMs: DEPLOYMENT_AGAIN_MS };
    return undefined;
  };

  return async (key, signal) => {
    const at = parseKey(key);
    const seen = runs.get(at);
    const namespace = resources.namespace(at.namespace);
    const plan = planRun({ resource: seen, namespace, knownUids: index.uidsOf(key), policy: deps.policy() });
    await dismiss(key, plan.gone, signal);
    if (seen === undefined || !plan.isOurs) return undefined;
    const dueInMs = await record(key, seen, plan, signal);
    const view = await rows.readView(seen.uid, signal);
    // Our own last write may have arrived while the row was read.
    const resource = runs.get(at);
    if (resource?.uid !== seen.uid) return undefined;
    if (view !== undefined) index.recorded(key, rowOf(view));
    const why = view && whyGiveUp(view.run, { isPlaced: view.isPlaced, hasApplication: view.application !== undefined }, clock.now());
    if (why !== undefined) {
      await syncRuns.giveUp([{ uid: resource.uid, message: why }], signal);
      return { requeueAfterMs: 0 };
    }
    await publish(resource, { view, dueInMs }, signal);
    if (view === undefined) return dueInMs === 0 ? undefined : { requeueAfterMs: Math.min(dueInMs, LONGEST_WAIT_MS) };
    return goOn(resource, view, signal);
  };
}

function rowOf({ run }: RunView): Parameters<RunIndex["recorded"]>[1] {
  return { uid: run.uid, applicationId: run.applicationId, isFinished: isFinished(run.progress.phase) };
}
