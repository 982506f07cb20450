import type { ApplicationId, Ids } from "../../domain/ids.ts";
import { createBatcher } from "../../runtime/batcher.ts";
import type { WorkResult } from "../../runtime/keyed-queue.ts";
import type { DeploymentIntent, IntentOutcome, IntentStore } from "../../store/intent/port.ts";
import { describeSpan } from "../../telemetry/tracing.ts";
import { parseKey } from "../keys.ts";
import type { ResourceAt, UserResources } from "../port.ts";
import type { WorkspacePolicy } from "../workspace-policy.ts";
import { type IntentPlan, planIntent, type RecordedIntent } from "./plan-intent.ts";
import type { RowIndex } from "./row-index.ts";

export interface IntentWorkDeps {
  readonly intents: IntentStore;
  readonly resources: UserResources;
  readonly rows: RowIndex;
  readonly policy: () => WorkspacePolicy;
  /** The user should hear of this resource, at once or once its instance had time to answer. */
  readonly tell: (key: string, when: "now" | "soon") => void;
  readonly ids: Ids;
}

/** Intents in one transaction: enough to carry a burst, few enough that the first of them does not wait for the last. */
export const INTENT_BATCH = 100;
/** A resource that its finalizer holds is reconciled again this often in case the hint of its row's end got lost, in ms. */
const HELD_AGAIN_MS = 30_000;
/** How soon a namespace is looked for again that the watch has not shown yet, in ms; the watch tells too. */
const UNSEEN_AGAIN_MS = 1_000;

/** Records what users ask for: makes the rows of one name in a namespace equal to the resource of that name. Key: `cluster|namespace|name`. */
export function createIntentWork(deps: IntentWorkDeps): (key: string, signal: AbortSignal) => Promise<WorkResult | void> {
  const { intents, resources, rows, ids } = deps;
  const record = createBatcher<DeploymentIntent, IntentOutcome>({
    maxSize: INTENT_BATCH,
    key: (intent) => intent.uid,
    flush: (batch, signal) => intents.recordDeployments(batch, signal),
  });
  const remove = createBatcher<IntentPlan["deletions"][number], undefined>({
    maxSize: INTENT_BATCH,
    key: ({ uid }) => uid,
    flush: flushDeletions,
  });
  const rowOf = createBatcher<string, boolean>({ maxSize: INTENT_BATCH, key: (uid) => uid, flush: findRows });

  async function reconcile(key: string, signal: AbortSignal): Promise<WorkResult | void> {
    const at = parseKey(key);
    if (await isNamespaceUnseen(at, key, signal)) return { requeueAfterMs: UNSEEN_AGAIN_MS };
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
    if (plan.record !== undefined && (await isOfOtherNamespace(plan.record, signal))) return { requeueAfterMs: UNSEEN_AGAIN_MS };
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

  /**
   * Whether a namespace that is not kept here is there all the same. Only a namespace that is gone takes along what was deployed into it,
   * and the watch of namespaces may be behind that of deployments: the API server is asked.
   */
  async function isNamespaceUnseen({ namespace, name }: ResourceAt, key: string, signal: AbortSignal): Promise<boolean> {
    const isGone = resources.namespace(namespace) === undefined && resources.deployment({ namespace, name }) === undefined;
    return isGone && rows.uidsOf(key).length > 0 && (await resources.readNamespaceUid(namespace, signal)) !== undefined;
  }

  /**
   * A row stays with its workspace. Before the first row of a resource is made, its namespace has to be the one that has the name now:
   * the resource may have come with one that was made anew.
   */
  async function isOfOtherNamespace({ uid, workspace }: RecordedIntent, signal: AbortSignal): Promise<boolean> {
    return !rows.hasRow(uid) && (await resources.readNamespaceUid(workspace.namespace, signal)) !== workspace.namespaceUid;
  }

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

  return reconcile;
}
