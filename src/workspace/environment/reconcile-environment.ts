import type { Clock } from "../../domain/clock.ts";
import type { Ids, WorkspaceId } from "../../domain/ids.ts";
import type { Partition } from "../../domain/partition.ts";
import type { ObservedNamespace, ObservedResource } from "../../domain/user-resource.ts";
import type { WorkResult } from "../../runtime/keyed-queue.ts";
import type { EnvironmentStore } from "../../store/environment/port.ts";
import { parseKey, resourceKey } from "../keys.ts";
import type { UserKindResources, UserResources, UserSecrets } from "../port.ts";
import { isWithinQuota } from "../quota.ts";
import { isWorkspace, type WorkspacePolicy } from "../workspace-policy.ts";
import { environmentStatus, pausedEnvironmentStatus } from "./environment-status.ts";
import { type Finding, NO_ANSWER, overQuota, wasVisited } from "./finding.ts";
import { type AccessDeps, createEnvironmentAccess } from "./grant-access.ts";
import type { ClusterProbe } from "./port.ts";
import type { Teardown } from "./tear-down-environment.ts";
import { createExamination, type Examined } from "./try-credential.ts";
import type { createVisitPace } from "./visit-pace.ts";

export interface EnvironmentWorkDeps extends AccessDeps {
  readonly environments: EnvironmentStore;
  readonly resources: Pick<UserKindResources, "get" | "list" | "readUid" | "patchStatus">;
  readonly secrets: Pick<UserSecrets, "read">;
  readonly namespaces: Pick<UserResources, "namespace" | "readNamespaceUid">;
  readonly probe: ClusterProbe;
  readonly teardown: Teardown;
  readonly pace: Pick<ReturnType<typeof createVisitPace>, "next">;
  /** `undefined` while no fleet is declared: nothing is probed then. */
  readonly policy: () => WorkspacePolicy | undefined;
  /** The key has to run again once a unit of the workspace has an owner. */
  readonly awaitOwner: (key: string, workspaceId: WorkspaceId) => void;
  readonly apiCluster: string;
  readonly partition: Pick<Partition, "isMine">;
  readonly clock: Clock;
  readonly ids: Ids;
}

type Works = NonNullable<Examined["works"]>;

interface Home {
  readonly namespace: ObservedNamespace;
  readonly policy: WorkspacePolicy;
  readonly trustClass: string;
}

/** What followed from an environment that works. */
interface Followed {
  readonly finding?: Finding;
  readonly awaits?: WorkspaceId;
  readonly isInstalling?: boolean;
  readonly againMs?: number;
}

/** Environments one namespace may have, the oldest first: each is tried every few minutes, and may cost an instance a cluster's cache. */
const LIMIT = 50;
/** How soon a namespace is looked for again that the watch has not shown, and how soon what an account left behind is removed; in ms. */
const AGAIN_MS = { unseen: 2_000, leftBehind: 10_000 } as const;

/** Ends what an environment's name had before, probes the environment, records what works, and tells its user. Key: `cluster|namespace|name`. */
export function createEnvironmentWork(deps: EnvironmentWorkDeps): (key: string, signal: AbortSignal) => Promise<WorkResult | void> {
  const { environments, resources, namespaces, teardown, apiCluster, clock, ids } = deps;
  const access = createEnvironmentAccess(deps);
  const examine = createExamination(deps);

  async function reconcile(key: string, signal: AbortSignal): Promise<WorkResult | void> {
    const at = parseKey(key);
    if (!deps.partition.isMine(at.namespace)) return;
    const resource = resources.get(at);
    const endsAgainMs = await teardown.settle(key, resource, signal);
    const policy = deps.policy();
    if (resource !== undefined) teardown.saw(key, resource.uid);
    const attended = resource === undefined || policy === undefined ? undefined : await attend(resource, policy, signal);
    return endsAgainMs === undefined ? attended : { requeueAfterMs: endsAgainMs };
  }

  /** Probes one environment and writes its status. Resolves to when to do so again. */
  async function attend(resource: ObservedResource, policy: WorkspacePolicy, signal: AbortSignal): Promise<WorkResult | undefined> {
    const namespace = namespaces.namespace(resource.namespace);
    if (namespace === undefined) return { requeueAfterMs: AGAIN_MS.unseen };
    if (namespace.isDeleting || resource.isDeleting || !isWorkspace(namespace, policy)) return undefined;
    const followed = resource.isPaused ? undefined : await follow(resource, policy, namespace, signal);
    // What stands in its status now. What is said of it is said of the spec that was probed.
    const seen = { ...(resources.get(resource) ?? resource), generation: resource.generation };
    const now = clock.now();
    const status = followed === undefined ? pausedEnvironmentStatus(seen, now) : environmentStatus(seen, followed.finding, now);
    if (status !== undefined) await resources.patchStatus(resource, status, signal);
    if (followed?.awaits !== undefined) deps.awaitOwner(resourceKey(apiCluster, resource), followed.awaits);
    return followed && { requeueAfterMs: followed.againMs };
  }

  /** Probes it, and records what follows. */
  async function follow(resource: ObservedResource, policy: WorkspacePolicy, namespace: ObservedNamespace, signal: AbortSignal) {
    const isWithin = isWithinQuota(resource, { siblings: resources.list(resource.namespace), limit: LIMIT, isAdmitted: () => false });
    const { finding, works } = isWithin ? await examine(resource, policy.egress, signal) : { finding: overQuota(LIMIT), works: undefined };
    if (wasVisited(finding)) await environments.noteReach(resource.uid, finding.reason !== NO_ANSWER, signal);
    const trustClass = policy.newUnit?.trustClass;
    if (works === undefined && !finding.keepsLast) await environments.withdraw(resource.uid, signal);
    const followed: Followed =
      works === undefined || trustClass === undefined ? {} : await connect(resource, { namespace, policy, trustClass }, works, signal);
    const againMs = deps.pace.next(resource.uid, followed.isInstalling === true ? "installing" : (followed.finding ?? finding).kind);
    return { finding, againMs, ...followed };
  }

  /** The credential first: a row that is connected always has one. Returns what there is to say instead of that it works. */
  async function connect(resource: ObservedResource, home: Home, works: Works, signal: AbortSignal): Promise<Followed> {
    const { name, uid, generation } = resource;
    const { namespace, policy, trustClass } = home;
    const { secretName: _, ...wish } = works.wish;
    const workspace = { plane: "kubernetes", apiCluster, namespace: namespace.name, namespaceUid: namespace.uid, trustClass } as const;
    if ((await environments.read(uid, signal)) === undefined && (await isBehind(resource, namespace, signal)))
      return { againMs: AGAIN_MS.unseen };
    const newIds = { workspaceId: ids.next<never>(), environmentId: ids.next<never>() };
    const { id, workspaceId, hasAccount } = await environments.claim({ workspace, newIds, name, uid }, signal);
    const before = hasAccount ? await environments.read(uid, signal) : undefined;
    const ask = { id, workspaceId, ...works, egress: policy.egress };
    const provided = await access.provide(ask, before, signal);
    if (provided.kind === "no-owner") {
      // Nothing is deployed yet, and nothing shall be with the user's own credential.
      await environments.withdraw(uid, signal);
      return { awaits: workspaceId };
    }
    if (provided.kind === "moving") return { againMs: AGAIN_MS.leftBehind };
    if (provided.kind !== "installed") return { finding: provided.finding, isInstalling: provided.kind === "waiting" };
    const isNews = await environments.connect({ id, generation, fingerprint: provided.fingerprint, ...wish }, signal);
    return (await access.tidy(ask, before, isNews, signal)) ? {} : { againMs: AGAIN_MS.leftBehind };
  }

  /** Another of this name may be there by now, which a claim of this one would drive out, or another namespace, whose it is. */
  async function isBehind(resource: ObservedResource, namespace: ObservedNamespace, signal: AbortSignal): Promise<boolean> {
    if ((await resources.readUid(resource, signal)) !== resource.uid) return true;
    return (await namespaces.readNamespaceUid(namespace.name, signal)) !== namespace.uid;
  }

  return reconcile;
}
