import { contentHash } from "../../domain/hash.ts";
import type { ApplicationId, Ids } from "../../domain/ids.ts";
import type { ObservedDeployment } from "../../domain/user-resource.ts";
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
  /** Queues the status of the user's resource: `now`, `soon`, when its instance has had time to answer, or `later`, behind all who wait. */
  readonly tell: (key: string, when: "now" | "soon" | "later") => void;
  readonly provesAccess: boolean;
  readonly ids: Ids;
}

/**
 * Largest number of intents in one transaction: enough to carry a burst, few enough that the first is not held up by
 * the last.
 */
export const INTENT_BATCH = 100;
/**
 * A resource that its finalizer holds is reconciled again this often, in ms, in case the notification that its row is
 * gone got lost.
 */
const HELD_AGAIN_MS = 30_000;
/**
 * How soon to try again for a namespace that exists and that the watch has not shown yet, in ms. The watch queues the
 * key too.
 */
const UNSEEN_AGAIN_MS = 1_000;

/**
 * Returns the work of one key, `cluster|namespace|name`: it makes the rows of that name equal to the GitOpsDeployment
 * of that name.
 *
 * It marks the rows of resources that are gone as deleted, records what the present resource asks for, queues the
 * user's status, and last removes the finalizer of a resource that is being deleted. Where it must not decide yet, it
 * returns when to run again. The watches may be behind: before rows go because their namespace is gone, and before the
 * first row of a resource, the API server itself is asked.
 */
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
    // Admitted before anything is awaited: resources that are decided at the same time must count each other, or they
    // would exceed the quota.
    if (plan.record !== undefined) rows.admit(plan.record.uid);
    if (plan.record !== undefined && (await isOfOtherNamespace(plan.record, signal))) return { requeueAfterMs: UNSEEN_AGAIN_MS };
    await recordDeletions(key, plan, signal);
    const when = whenToTell(plan, resource);
    if (plan.record !== undefined) await recordDeployment(key, plan.record, signal);
    if (when !== "nothing") deps.tell(key, when);
    if (resource !== undefined && plan.release !== "never") return release({ ...at, uid: resource.uid }, plan.release, signal);
  }

  /**
   * Whose row holds the request, and whose status says that it is deployed, waits for nothing: what else changes in the row is announced. Said before the
   * row is recorded.
   */
  function whenToTell({ record, tell }: IntentPlan, resource: ObservedDeployment | undefined): IntentPlan["tell"] | "later" {
    const isHeld = record !== undefined && rows.hasRequest(record.uid, record.stamp);
    return isHeld && resource !== undefined && saysDeployed(resource) ? "later" : tell;
  }

  async function recordDeletions(key: string, { deletions }: IntentPlan, signal: AbortSignal): Promise<void> {
    await Promise.all(deletions.map((deletion) => remove.add(deletion, signal)));
    for (const { uid } of deletions) rows.departed(key, uid);
  }

  /** Records a request that its row may not hold yet. */
  async function recordDeployment(key: string, { stamp, workspace, ...request }: RecordedIntent, signal: AbortSignal): Promise<void> {
    const listed = rows.listedWith(request.uid, { request: stamp, specHash: contentHash(request.spec) });
    if (listed !== undefined) return rows.recorded(key, { uid: request.uid, applicationId: listed, request: stamp });
    const place = { workspaceId: ids.next<never>(), unitId: ids.next<never>() };
    const newIds = { ...place, applicationId: ids.next<ApplicationId>(), operationId: ids.next<never>() };
    const apiCluster = parseKey(key).cluster;
    const outcome = await record.add(
      { ...request, workspace: { ...workspace, plane: "kubernetes", apiCluster }, newIds, provesAccess: deps.provesAccess },
      signal,
    );
    describeSpan({ "argosy.application.uid": request.uid, "argosy.application.id": outcome.applicationId });
    rows.recorded(key, { uid: request.uid, applicationId: outcome.applicationId, request: stamp });
  }

  /** Removes the finalizer, at once or only if the row is gone. If it is not, returns when to check again. */
  async function release(
    resource: { readonly namespace: string; readonly name: string; readonly uid: string },
    when: IntentPlan["release"],
    signal: AbortSignal,
  ): Promise<WorkResult | void> {
    if (when === "when-row-is-gone" && (await rowOf.add(resource.uid, signal))) return { requeueAfterMs: HELD_AGAIN_MS };
    await resources.removeFinalizer(resource, signal);
  }

  /**
   * Whether the namespace exists although the watch does not show it. Rows whose namespace is gone are deleted without
   * removing what they deployed, because Kubernetes deletes that with the namespace. That must not happen to a
   * namespace that exists, and the watch of namespaces may be behind that of deployments. So the API server is asked.
   */
  async function isNamespaceUnseen({ namespace, name }: ResourceAt, key: string, signal: AbortSignal): Promise<boolean> {
    const isGone = resources.namespace(namespace) === undefined && resources.deployment({ namespace, name }) === undefined;
    return isGone && rows.uidsOf(key).length > 0 && (await resources.readNamespaceUid(namespace, signal)) !== undefined;
  }

  /**
   * Whether the namespace that the watch shows was replaced by a new one of the same name. The resource may belong to
   * the new one, and a row keeps its workspace for good. So before the first row of a resource is made, the API server
   * is asked for the namespace's uid.
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

/** Whether its status says that it is deployed, and nothing of an error or a pause. */
function saysDeployed({ conditions }: ObservedDeployment): boolean {
  const isTrue = (type: string): boolean => conditions.some((condition) => condition.type === type && condition.status === "True");
  return isTrue("Ready") && !isTrue("ErrorOccurred") && !isTrue("Paused");
}
