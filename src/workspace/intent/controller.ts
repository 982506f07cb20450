import type { Clock } from "../../domain/clock.ts";
import type { ApplicationId, Ids } from "../../domain/ids.ts";
import type { Rng } from "../../domain/rng.ts";
import { createBatcher } from "../../runtime/batcher.ts";
import { createKeyedQueue, type KeyedQueue, type WorkResult } from "../../runtime/keyed-queue.ts";
import type { DeploymentIntent, IntentOutcome, IntentStore } from "../../store/intent/port.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { describeSpan } from "../../telemetry/tracing.ts";
import { parseKey } from "../keys.ts";
import type { UserResources } from "../port.ts";
import type { RowIndex } from "../row-index.ts";
import type { WorkspacePolicy } from "../workspace-policy.ts";
import { createLagCheck } from "./lag/controller.ts";
import { type IntentPlan, planIntent, type RecordedIntent } from "./plan-intent.ts";

export interface IntentDeps {
  readonly intents: IntentStore;
  readonly resources: UserResources;
  readonly rows: RowIndex;
  readonly policy: () => WorkspacePolicy;
  /** The user should hear of this resource, at once or once its instance had time to answer. */
  readonly tell: (key: string, when: "now" | "soon") => void;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly ids: Ids;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Intents in one transaction: enough to carry a burst, few enough that the first of them does not wait for the last. */
const BATCH = 100;
/** Keys under way at once: a few batches' worth, so that the next gathers while one is written. */
const CONCURRENCY = 4 * BATCH;
/** Keys of one namespace under way at once while others are served: what one wish may have to share its transaction with. */
const BESIDE_OTHERS = 4;
/** A held resource is looked at again this often in case the news of its row's end got lost, in ms. */
const HELD_AGAIN_MS = 30_000;
/** How soon a namespace is looked for again that the watch has not shown yet, in ms; the watch tells too. */
const UNSEEN_AGAIN_MS = 1_000;

/**
 * Users' wishes in: makes the rows of one name in a namespace equal to the resource of that name. Key:
 * `cluster|namespace|name`; namespaces take turns.
 */
export function createIntentController(deps: IntentDeps): KeyedQueue {
  const { intents, resources, rows, ids } = deps;
  const lag = createLagCheck(deps);
  const record = createBatcher<DeploymentIntent, IntentOutcome>({
    maxSize: BATCH,
    key: (intent) => intent.uid,
    flush: (batch, signal) => intents.recordDeployments(batch, signal),
  });
  const remove = createBatcher<IntentPlan["deletions"][number], undefined>({
    maxSize: BATCH,
    key: ({ uid }) => uid,
    flush: flushDeletions,
  });
  const rowOf = createBatcher<string, boolean>({ maxSize: BATCH, key: (uid) => uid, flush: findRows });

  async function flushDeletions(batch: IntentPlan["deletions"], signal: AbortSignal): Promise<readonly undefined[]> {
    await intents.recordDeletions(
      batch.map((deletion) => ({ ...deletion, operationId: ids.next() })),
      signal,
    );
    return batch.map(() => undefined);
  }

  async function findRows(uids: readonly string[], signal: AbortSignal): Promise<readonly boolean[]> {
    const found = new Set((await intents.readByUids(uids, signal)).map((view) => view.application.uid));
    return uids.map((uid) => found.has(uid));
  }

  async function work(key: string, signal: AbortSignal): Promise<WorkResult | void> {
    const at = parseKey(key);
    if (await lag.isUnseen(at, key, signal)) return { requeueAfterMs: UNSEEN_AGAIN_MS };
    const resource = resources.deployment(at);
    const siblings = resources.deployments(at.namespace);
    const plan = planIntent({
      resource,
      namespace: resources.namespace(at.namespace),
      knownUids: rows.uidsOf(key),
      siblings,
      isAdmitted: rows.isAdmitted,
      policy: deps.policy(),
    });
    // In one step with the decision: the quota holds for all that are decided at one time.
    if (plan.record !== undefined) rows.admit(plan.record.uid);
    if (plan.record !== undefined && (await lag.isElsewhere(plan.record, signal))) return { requeueAfterMs: UNSEEN_AGAIN_MS };
    await recordDeletions(key, plan, signal);
    if (plan.record !== undefined) await recordDeployment(key, plan.record, signal);
    if (plan.tell !== "nothing") deps.tell(key, plan.tell);
    if (resource !== undefined && plan.release !== "never") return release({ ...at, uid: resource.uid }, plan.release, signal);
  }

  async function recordDeletions(key: string, { deletions }: IntentPlan, signal: AbortSignal): Promise<void> {
    await Promise.all(deletions.map((deletion) => remove.add(deletion, signal)));
    for (const { uid } of deletions) rows.departed(key, uid);
  }

  async function recordDeployment(key: string, { stamp, workspace, ...wish }: RecordedIntent, signal: AbortSignal): Promise<void> {
    const place = { workspaceId: ids.next<never>(), unitId: ids.next<never>() };
    const newIds = { ...place, applicationId: ids.next<ApplicationId>(), operationId: ids.next<never>() };
    const apiCluster = parseKey(key).cluster;
    const outcome = await record.add({ ...wish, workspace: { ...workspace, plane: "kubernetes", apiCluster }, newIds }, signal);
    describeSpan({ "argosy.application.uid": wish.uid, "argosy.application.id": outcome.applicationId });
    rows.recorded(key, { uid: wish.uid, applicationId: outcome.applicationId, wish: stamp });
  }

  async function release(
    resource: { readonly namespace: string; readonly name: string; readonly uid: string },
    when: IntentPlan["release"],
    signal: AbortSignal,
  ): Promise<WorkResult | void> {
    if (when === "when-row-is-gone" && (await rowOf.add(resource.uid, signal))) return { requeueAfterMs: HELD_AGAIN_MS };
    await resources.removeFinalizer(resource, signal);
  }

  return createKeyedQueue({ ...deps, name: "workspace-intent", concurrency: CONCURRENCY, besideOthers: BESIDE_OTHERS, work });
}
