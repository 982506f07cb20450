import type { Clock } from "../../domain/clock.ts";
import type { Ids } from "../../domain/ids.ts";
import type { Partition } from "../../domain/partition.ts";
import { writeRepositorySecret } from "../../domain/repository-credential.ts";
import type { ObservedNamespace, ObservedResource } from "../../domain/user-resource.ts";
import type { WorkResult } from "../../runtime/keyed-queue.ts";
import type { RepositoryCredentialStore } from "../../store/repository-credential/port.ts";
import { parseKey } from "../keys.ts";
import type { ResourceAt, UserKindResources, UserResources, UserSecrets } from "../port.ts";
import { type NewUnit, newUnitOf, type WorkspacePolicy } from "../workspace-policy.ts";
import { statusToWrite } from "./credential-status.ts";
import { credentialSecretNameOf, planReview, type RecordedCredential, type ReviewPlan, type WantedCredential } from "./plan-review.ts";
import type { RepositoryProbes } from "./try-repositories.ts";

export interface CredentialWorkDeps {
  readonly store: RepositoryCredentialStore;
  readonly resources: UserKindResources;
  readonly secrets: UserSecrets;
  readonly namespaces: Pick<UserResources, "namespace" | "readNamespaceUid">;
  readonly probes: RepositoryProbes;
  readonly policy: () => WorkspacePolicy;
  /** What is in use changed: the other credentials of the namespace may have to say something else. */
  readonly onChanged: (namespace: string) => void;
  readonly apiCluster: string;
  readonly partition: Partition;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** How soon a credential is reconciled again of which only a version was recorded, in ms. */
const NOTED_MS = 200;
/** How soon it is reconciled again while its instance has yet to get it, while there is no instance, and while a watch is behind; in ms. */
const POLL_MS = { "under-way": 1_000, unplaced: 15_000, behind: 1_000 } as const;

/** Makes the row and the status of one credential say what a probe of its repository has shown. Key: `cluster|namespace|name`. */
export function createCredentialWork(deps: CredentialWorkDeps): (key: string, signal: AbortSignal) => Promise<WorkResult | void> {
  const { store, resources, secrets, namespaces, probes, apiCluster, clock, ids } = deps;

  async function reconcile(key: string, signal: AbortSignal): Promise<WorkResult | void> {
    const at = parseKey(key);
    const namespace = namespaces.namespace(at.namespace);
    // What belonged to a namespace that is gone goes with its workspace.
    if (namespace === undefined || !deps.partition.isMine(at.namespace)) return probes.forget(key);
    const recorded = await store.listOfWorkspace({ plane: "kubernetes", apiCluster, namespaceUid: namespace.uid }, signal);
    const resource = resources.get(at);
    if (resource === undefined) return forget(key, at, recorded, signal);
    const secretName = credentialSecretNameOf(resource.spec);
    const secretAt = { namespace: at.namespace, name: secretName };
    // The version first: should the Secret change meanwhile, an older version is recorded, and the key runs again.
    const secretVersion = secrets.version(secretAt);
    const secret = secretName === "" ? undefined : await secrets.read(secretAt, signal);
    const seen = { resource, namespace, siblings: resources.list(at.namespace), recorded, secret, secretVersion };
    const plan = planReview({ ...seen, policy: deps.policy(), lastObservation: probes.last(key) });
    const again = await carryOut({ plan, resource, namespace, secretVersion, recorded }, signal);
    if (again !== undefined) return again;
    const status = statusToWrite(resource, plan, clock.now());
    if (status !== undefined) await resources.patchStatus(resource, status, signal);
    return plan.wanted === undefined ? undefined : { requeueAfterMs: nextTurn(key, plan) };
  }

  /** What is kept here may be behind: only the API server's word counts. */
  async function forget(key: string, at: ResourceAt, recorded: readonly RecordedCredential[], signal: AbortSignal): Promise<void> {
    probes.forget(key);
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

  /** Resolves to when to reconcile again because rows were changed, so that what was read before is out of date; `undefined`: nothing was. */
  async function carryOut({ plan, ...scene }: Scene, signal: AbortSignal): Promise<WorkResult | undefined> {
    if (plan.record !== undefined && (await isElsewhere(scene, signal))) return { requeueAfterMs: POLL_MS.behind };
    const record = recordOf(plan.record, { ...scene, apiCluster, newUnit: newUnitOf(scene.namespace, deps.policy()) });
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
    // Only the row says that it works. This process has not probed it yet, and need not begin with all repositories at once.
    if (probes.last(key) === undefined && finding.kind === "probed") probes.assume(key, wanted.stamp);
    const observeInMs = probes.ask(key, wanted, deps.policy().egress);
    return inEffect === undefined || inEffect.delivery === "delivered" ? observeInMs : Math.min(observeInMs, POLL_MS[inEffect.delivery]);
  }

  return reconcile;
}

type NewIds = Parameters<RepositoryCredentialStore["record"]>[0]["newIds"];

interface Scene {
  readonly plan: ReviewPlan;
  readonly resource: ObservedResource;
  readonly namespace: ObservedNamespace;
  readonly secretVersion: string | undefined;
  readonly recorded: readonly RecordedCredential[];
}

interface RecordFacts {
  readonly resource: ObservedResource;
  readonly namespace: ObservedNamespace;
  readonly secretVersion: string | undefined;
  readonly apiCluster: string;
  readonly newUnit: NewUnit | undefined;
}

/** What is recorded of a credential that was seen to work; `undefined` while there is no place where it could be used. */
function recordOf(wanted: WantedCredential | undefined, { resource, namespace, secretVersion, apiCluster, newUnit }: RecordFacts) {
  if (wanted === undefined || secretVersion === undefined || newUnit === undefined) return undefined;
  const { name, uid, generation, createdAt } = resource;
  const { trustClass, groups } = newUnit;
  const own = { namespace: namespace.name, namespaceUid: namespace.uid, trustClass, ...(groups === undefined ? {} : { groups }) };
  const plane = "kubernetes" as const;
  return {
    ...{ name, uid, generation, createdAt, secretVersion, class: newUnit.class },
    ...{ url: wanted.address.url, urlKey: wanted.address.key, secret: writeRepositorySecret(wanted.secret) },
    workspace: { plane, apiCluster, ...own },
  };
}
