import type { Clock } from "../../../domain/clock.ts";
import type { Ids } from "../../../domain/ids.ts";
import type { Partition } from "../../../domain/partition.ts";
import type { Rng } from "../../../domain/rng.ts";
import type { ObservedNamespace, ObservedResource } from "../../../domain/user-resource.ts";
import { createKeyedQueue, type KeyedQueue, type WorkResult } from "../../../runtime/keyed-queue.ts";
import type { RepositoryCredentialStore } from "../../../store/repository-credential/port.ts";
import type { Log } from "../../../telemetry/log.ts";
import type { Metrics } from "../../../telemetry/metrics.ts";
import { parseKey } from "../../keys.ts";
import type { ResourceAt, UserKindResources, UserResources, UserSecrets } from "../../port.ts";
import type { WorkspacePolicy } from "../../workspace-policy.ts";
import { recordOf } from "../credential-record.ts";
import { statusToWrite } from "../credential-status.ts";
import type { Looks } from "../looks/controller.ts";
import { planReview, type RecordedCredential, type ReviewPlan, secretNameOf } from "../plan-review.ts";

export interface ReviewDeps {
  readonly store: RepositoryCredentialStore;
  readonly resources: UserKindResources;
  readonly secrets: UserSecrets;
  readonly namespaces: Pick<UserResources, "namespace" | "readNamespaceUid">;
  readonly looks: () => Looks;
  readonly policy: () => WorkspacePolicy;
  /** What is in use changed: the other credentials of the namespace may have to say something else. */
  readonly onChanged: (namespace: string) => void;
  readonly apiCluster: string;
  readonly partition: Partition;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly ids: Ids;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Keys under way at once: each waits for a statement, a Secret and a status. */
const CONCURRENCY = 16;
/** How soon to see whether what was only noted is seen here too, in ms. */
const NOTED_MS = 200;
/** How soon to see whether the instance has what is new, whether there is one by now, and which namespace a watch that is behind shows; in ms. */
const POLL_MS = { "under-way": 1_000, unplaced: 15_000, behind: 1_000 } as const;

/** Makes the row of one credential, and what its user is told, what a look at it has shown. Key: `cluster|namespace|name`. */
export function createReviewController(deps: ReviewDeps): KeyedQueue {
  const { store, resources, secrets, namespaces, apiCluster, clock, ids } = deps;

  async function work(key: string, signal: AbortSignal): Promise<WorkResult | void> {
    const at = parseKey(key);
    const namespace = namespaces.namespace(at.namespace);
    // What belonged to a namespace that is gone goes with its workspace.
    if (namespace === undefined || !deps.partition.isMine(at.namespace)) return deps.looks().forget(key);
    const recorded = await store.listOfWorkspace({ plane: "kubernetes", apiCluster, namespaceUid: namespace.uid }, signal);
    const resource = resources.get(at);
    if (resource === undefined) return forget(key, at, recorded, signal);
    const secretName = secretNameOf(resource.spec);
    const secretAt = { namespace: at.namespace, name: secretName };
    // The version first: should the Secret change meanwhile, what is recorded is an older version, and is looked at again.
    const secretVersion = secrets.version(secretAt);
    const secret = secretName === "" ? undefined : await secrets.read(secretAt, signal);
    const seen = { resource, namespace, siblings: resources.list(at.namespace), recorded, secret, secretVersion };
    const plan = planReview({ ...seen, policy: deps.policy(), lastLook: deps.looks().last(key) });
    const again = await carryOut({ plan, resource, namespace, secretVersion, recorded }, signal);
    if (again !== undefined) return again;
    const status = statusToWrite(resource, plan, clock.now());
    if (status !== undefined) await resources.patchStatus(resource, status, signal);
    return plan.wanted === undefined ? undefined : { requeueAfterMs: nextTurn(key, plan) };
  }

  /** What is kept here may be behind: only the API server's word counts. */
  async function forget(key: string, at: ResourceAt, recorded: readonly RecordedCredential[], signal: AbortSignal): Promise<void> {
    deps.looks().forget(key);
    const uids = recorded.filter(({ credential }) => credential.name === at.name).map(({ credential }) => credential.uid);
    if (uids.length === 0) return;
    const present = await resources.readUid(at, signal);
    const gone = uids.filter((uid) => uid !== present);
    await store.revoke(gone, signal);
    if (gone.length > 0) deps.onChanged(at.namespace);
  }

  /** A row stays with its workspace: before the first one is made its namespace has to be the one that has the name now. */
  const isElsewhere = async (
    { resource, namespace: { name, uid }, recorded }: Omit<Scene, "plan">,
    signal: AbortSignal,
  ): Promise<boolean> =>
    recorded.every(({ credential }) => credential.uid !== resource.uid) && (await namespaces.readNamespaceUid(name, signal)) !== uid;

  /** In how many ms to look again because something was changed, so that what was read is not so any more. */
  async function carryOut({ plan, ...scene }: Scene, signal: AbortSignal): Promise<WorkResult | undefined> {
    if (plan.record !== undefined && (await isElsewhere(scene, signal))) return { requeueAfterMs: POLL_MS.behind };
    const record = recordOf(plan.record, { ...scene, apiCluster, newUnit: deps.policy().newUnit });
    if (plan.revoke.length > 0) await store.revoke(plan.revoke, signal);
    const newIds = () => ({ workspaceId: ids.next(), unitId: ids.next(), repositoryCredentialId: ids.next(), credentialId: ids.next() });
    const outcome = record === undefined ? "none" : await store.record({ ...record, newIds: newIds() as NewIds }, signal);
    if (plan.revoke.length > 0 || outcome === "created" || outcome === "updated") deps.onChanged(scene.namespace.name);
    if (outcome === "none" && plan.revoke.length === 0) return undefined;
    // Unchanged: the row is newer than what is kept here, or only a version was noted.
    return { requeueAfterMs: outcome === "unchanged" ? NOTED_MS : 0 };
  }

  function nextTurn(key: string, { wanted, finding, inEffect }: ReviewPlan): number {
    if (wanted === undefined) return Number.POSITIVE_INFINITY;
    // The row alone says that it works: this process has not looked yet, and need not begin with everything at once.
    if (deps.looks().last(key) === undefined && finding.kind === "looked") deps.looks().assume(key, wanted.stamp);
    const lookInMs = deps.looks().ask(key, wanted, deps.policy().egress);
    return inEffect === undefined || inEffect.delivery === "delivered" ? lookInMs : Math.min(lookInMs, POLL_MS[inEffect.delivery]);
  }

  return createKeyedQueue({ ...deps, name: "workspace-repository-credentials", concurrency: CONCURRENCY, work });
}

type NewIds = Parameters<RepositoryCredentialStore["record"]>[0]["newIds"];

interface Scene {
  readonly plan: ReviewPlan;
  readonly resource: ObservedResource;
  readonly namespace: ObservedNamespace;
  readonly secretVersion: string | undefined;
  readonly recorded: readonly RecordedCredential[];
}
