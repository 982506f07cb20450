import type { Clock } from "../../domain/clock.ts";
import { isFinished } from "../../domain/sync-run.ts";
import type { ObservedResource } from "../../domain/user-resource.ts";
import { createBatcher } from "../../runtime/batcher.ts";
import type { WorkResult } from "../../runtime/keyed-queue.ts";
import type { RunIntent, RunPublication, RunView, SyncRunStore } from "../../store/sync-run/port.ts";
import { parseKey } from "../keys.ts";
import type { UserResources } from "../port.ts";
import { quotaOf, type WorkspacePolicy } from "../workspace-policy.ts";
import { parseRun } from "./parse-run.ts";
import { dueAt, planRun, type RunPlan, whyGiveUp } from "./plan-run.ts";
import type { RunResources } from "./port.ts";
import type { RunIndex } from "./run-index.ts";
import { createRunPace } from "./run-pace.ts";
import { composeRun, isRunShown } from "./run-status.ts";

export interface RunWorkDeps {
  readonly syncRuns: SyncRunStore;
  readonly index: RunIndex;
  readonly runs: RunResources;
  readonly resources: Pick<UserResources, "deployment" | "namespace">;
  readonly policy: () => WorkspacePolicy;
  readonly clock: Clock;
}

/** Rows read or written in one statement. */
const BATCH = 100;
/** A deployment is recorded a moment after it is seen, and nothing tells the runs that wait for it: they are reconciled again this soon, in ms. */
const DEPLOYMENT_AGAIN_MS = 1_000;
/** No run waits longer than this until it is reconciled again, in ms; the sweep is no later. */
const LONGEST_WAIT_MS = 60_000;

/** Makes the row of one run equal to its resource, and its status equal to its row. Key: `cluster|namespace|name`. */
export function createRunWork(deps: RunWorkDeps): (key: string, signal: AbortSignal) => Promise<WorkResult | void> {
  const { syncRuns, index, runs, resources, clock } = deps;
  const rows = createRunRows(syncRuns);
  const pace = createRunPace();

  async function reconcile(key: string, signal: AbortSignal): Promise<WorkResult | void> {
    const at = parseKey(key);
    const seen = runs.get(at);
    const namespace = resources.namespace(at.namespace);
    const plan = planRun({ resource: seen, namespace, knownUids: index.uidsOf(key), policy: deps.policy() });
    await dismiss(key, plan.gone, signal);
    if (seen === undefined || !plan.isOurs) return undefined;
    const { syncsPerMinute } = quotaOf(namespace, deps.policy());
    const dueInMs = await record(key, { resource: seen, plan, syncsPerMinute }, signal);
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
    await publish(resource, { view, dueInMs, syncsPerMinute }, signal);
    if (view === undefined) return dueInMs === 0 ? undefined : { requeueAfterMs: Math.min(dueInMs, LONGEST_WAIT_MS) };
    return goOn(resource, view, signal);
  }

  /** Cancels runs whose resource is gone, and forgets those that have ended. */
  async function dismiss(key: string, uids: readonly string[], signal: AbortSignal): Promise<void> {
    if (uids.length === 0) return;
    await syncRuns.cancel(uids, signal);
    await syncRuns.forget(uids, signal);
    for (const uid of uids) {
      pace.forget(uid);
      const left = await rows.readView(uid, signal);
      if (left === undefined) index.forgotten(key, uid);
      else index.recorded(key, rowOf(left));
    }
  }

  /** Records what the resource asks for once the workspace's quota lets it begin. Resolves to how many ms remain until then; 0: it is recorded. */
  async function record(key: string, { resource, plan, syncsPerMinute }: PlannedRun, signal: AbortSignal): Promise<number> {
    if (plan.isCancelled) await syncRuns.cancel([resource.uid], signal);
    if (plan.record === undefined) return 0;
    const { cluster: apiCluster, namespace, name } = parseKey(key);
    const isNew = index.keyOf(resource.uid) === undefined;
    const place = { uid: resource.uid, workspace: namespace };
    const dueInMs = isNew ? pace.dueInMs(place, syncsPerMinute, clock.monotonicMs()) : 0;
    if (dueInMs === 0)
      await rows.record({ ...plan.record, apiCluster, namespace, name, deploymentUid: deploymentOf(resource)?.uid }, signal);
    return dueInMs;
  }

  function deploymentOf(resource: ObservedResource): ObservedResource | undefined {
    const parsed = parseRun(resource);
    return parsed.ok ? resources.deployment({ namespace: resource.namespace, name: parsed.request.deployment }) : undefined;
  }

  async function publish(resource: ObservedResource, { view, dueInMs, syncsPerMinute }: Standing, signal: AbortSignal): Promise<void> {
    const { hidden, kinds } = deps.policy();
    const facts = { resource, record: view, hasDeployment: deploymentOf(resource) !== undefined, hidden, kinds };
    const composed = composeRun({ ...facts, quota: dueInMs === 0 ? undefined : syncsPerMinute }, clock.now());
    const isShown = isRunShown(resource, composed) && (view === undefined || view.publishedHash === composed.hash);
    if (!isShown) await runs.patchStatus(resource, composed.status, signal);
    if (view === undefined) return;
    await rows.recordPublished({ uid: view.run.uid, hash: composed.hash, viewRevision: view.viewRevision }, signal);
  }

  /** What becomes of a run whose user knows how it ended. */
  async function goOn(resource: ObservedResource, view: RunView, signal: AbortSignal): Promise<WorkResult | void> {
    const due = dueAt(view.run, resource);
    if (due !== undefined && due <= clock.now()) return runs.remove(resource, signal);
    if (due !== undefined) return { requeueAfterMs: Math.min(due - clock.now(), LONGEST_WAIT_MS) };
    const isOrphan = view.application === undefined && !isFinished(view.run.progress.phase);
    if (isOrphan && deploymentOf(resource) !== undefined) return { requeueAfterMs: DEPLOYMENT_AGAIN_MS };
    return undefined;
  }

  return reconcile;
}

/** A run, what is to be done about it, and how many its workspace may begin in a minute. */
interface PlannedRun {
  readonly resource: ObservedResource;
  readonly plan: RunPlan;
  readonly syncsPerMinute: number;
}

/** What is known of a run, and in how many ms the quota lets it begin. */
interface Standing extends Pick<PlannedRun, "syncsPerMinute"> {
  readonly view: RunView | undefined;
  readonly dueInMs: number;
}

function rowOf({ run }: RunView): Parameters<RunIndex["recorded"]>[1] {
  return { uid: run.uid, applicationId: run.applicationId, isFinished: isFinished(run.progress.phase) };
}

/** Single reads and writes of runs' rows. Those that are asked for at the same time share a statement. */
function createRunRows(runs: SyncRunStore) {
  const intents = createBatcher<RunIntent, undefined>({
    maxSize: BATCH,
    key: ({ uid }) => uid,
    async flush(batch, signal) {
      await runs.record(batch, signal);
      return batch.map(() => undefined);
    },
  });
  const views = createBatcher<string, RunView | undefined>({
    maxSize: BATCH,
    key: (uid) => uid,
    async flush(uids, signal) {
      const found = new Map((await runs.readViews(uids, signal)).map((view) => [view.run.uid, view]));
      return uids.map((uid) => found.get(uid));
    },
  });
  const publications = createBatcher<RunPublication, undefined>({
    maxSize: BATCH,
    key: ({ uid }) => uid,
    async flush(batch, signal) {
      await runs.recordPublished(batch, signal);
      return batch.map(() => undefined);
    },
  });
  return { record: intents.add, readView: views.add, recordPublished: publications.add };
}
