import type { Clock, Millis } from "../../domain/clock.ts";
import { ENVIRONMENT_PURPOSE, type Environment, environmentCredentialKey, OWNER_PURPOSE } from "../../domain/environment.ts";
import { canonicalJson } from "../../domain/hash.ts";
import type { Ids, WorkspaceId } from "../../domain/ids.ts";
import type { Partition } from "../../domain/partition.ts";
import type { ObservedNamespace, ObservedResource } from "../../domain/user-resource.ts";
import { isWithheld, isWithholdingOver, type Withholding } from "../../domain/withholding.ts";
import type { WorkResult } from "../../runtime/keyed-queue.ts";
import type { EnvironmentStore } from "../../store/environment/port.ts";
import { parseKey, resourceKey } from "../keys.ts";
import type { UserKindResources, UserResources, UserSecrets } from "../port.ts";
import { isWithinQuota } from "../quota.ts";
import { isWorkspace, newUnitOf, quotaOf, type WorkspacePolicy } from "../workspace-policy.ts";
import { environmentStatus, pausedEnvironmentStatus } from "./environment-status.ts";
import { type EnvironmentFinding, NO_ANSWER, overBudget, overQuota, wasVisited } from "./finding.ts";
import { type AccessDeps, type AccountAsk, createEnvironmentAccess } from "./grant-access.ts";
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
  /** Queues the key again once a unit of the workspace has an owner. */
  readonly awaitOwner: (key: string, workspaceId: WorkspaceId) => void;
  readonly apiCluster: string;
  readonly partition: Pick<Partition, "isMine">;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** However short the tokens that a cluster gives, it is not visited all the time for them. In ms. */
const SOONEST_RENEWAL_MS = 1_000;

type Works = NonNullable<Examined["works"]>;

/** The namespace of an environment, and what policy says about it. */
interface OwnNamespace {
  readonly namespace: ObservedNamespace;
  readonly policy: WorkspacePolicy;
  readonly trustClass: string;
}

/** What connecting an environment that works has come to. */
interface Followed {
  /** What to say instead of that it works. */
  readonly finding?: EnvironmentFinding;
  /** The workspace that needs an owner before an account can be made. */
  readonly awaits?: WorkspaceId;
  /** Its account is being made. */
  readonly isInstalling?: boolean;
  /** When to run again, in ms; absent: as often as the pace of visits says. */
  readonly againMs?: number;
  /** When a token of an account there is replaced. */
  readonly renewAt?: Millis;
}

/**
 * When to run again, in ms. `unseen`: a watch is behind. `leftBehind`: a former account is to be removed, or a move
 * is under way.
 */
const AGAIN_MS = { unseen: 2_000, leftBehind: 10_000 } as const;

/**
 * Returns the work of one key, `cluster|namespace|name`, of a GitOpsDeploymentManagedEnvironment.
 *
 * It tears down former environments of that name, probes the present one with the user's credential, stores what
 * instances need to enter it if it works, and writes its status. It returns when to run again.
 */
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

  /**
   * Probes one environment, unless it is paused, and writes its status. Resolves to when to do so again; `undefined`:
   * after a change only.
   */
  async function attend(resource: ObservedResource, policy: WorkspacePolicy, signal: AbortSignal): Promise<WorkResult | undefined> {
    const namespace = namespaces.namespace(resource.namespace);
    if (namespace === undefined) return { requeueAfterMs: AGAIN_MS.unseen };
    if (namespace.isDeleting || resource.isDeleting || !isWorkspace(namespace, policy)) return undefined;
    const followed = resource.isPaused ? undefined : await follow(resource, policy, namespace, signal);
    // Compared with the status as it is now, but with the generation that was probed: the finding is about that spec.
    const seen = { ...(resources.get(resource) ?? resource), generation: resource.generation };
    const now = clock.now();
    const status = followed === undefined ? pausedEnvironmentStatus(seen, now) : environmentStatus(seen, followed.finding, now);
    if (status !== undefined) await resources.patchStatus(resource, status, signal);
    if (followed?.awaits !== undefined) deps.awaitOwner(resourceKey(apiCluster, resource), followed.awaits);
    return followed && { requeueAfterMs: followed.againMs };
  }

  /**
   * Probes an environment. One that works is connected; one that does not is withdrawn, unless that may pass by
   * itself (`keepsLast`).
   */
  async function follow(resource: ObservedResource, policy: WorkspacePolicy, namespace: ObservedNamespace, signal: AbortSignal) {
    const { environments: mayHave } = quotaOf(namespace, policy);
    const { finding, works } = (await isWithin(resource, mayHave, signal))
      ? await examine(resource, policy.egress, signal)
      : { finding: overQuota(mayHave), works: undefined };
    if (wasVisited(finding)) await environments.noteReach(resource.uid, finding.reason !== NO_ANSWER, signal);
    const trustClass = newUnitOf(namespace, policy)?.trustClass;
    if (works === undefined && !finding.keepsLast) await environments.withdraw(resource.uid, signal);
    const followed: Followed =
      works === undefined || trustClass === undefined ? {} : await connect(resource, { namespace, policy, trustClass }, works, signal);
    const paceMs = deps.pace.next(resource.uid, followed.isInstalling === true ? "installing" : (followed.finding ?? finding).kind);
    const renewMs = Math.max((followed.renewAt ?? Number.POSITIVE_INFINITY) - clock.now(), SOONEST_RENEWAL_MS);
    return { finding, againMs: Math.min(paceMs, renewMs), ...followed };
  }

  /** Whether the namespace may have this one too. Those in use stay, so that a lower quota takes nothing from anybody. */
  async function isWithin(resource: ObservedResource, limit: number, signal: AbortSignal): Promise<boolean> {
    if (resource.isOneTooMany === true) return false;
    const siblings = resources.list(resource.namespace);
    if (siblings.length <= limit) return true;
    const used = new Set(await environments.listUsed(apiCluster, resource.namespace, signal));
    return isWithinQuota(resource, { siblings, limit, isAdmitted: (uid) => used.has(uid) });
  }

  /** Connects an environment that works, unless its resource is behind or it is kept from instances. */
  async function connect(resource: ObservedResource, own: OwnNamespace, works: Works, signal: AbortSignal): Promise<Followed> {
    const known = await environments.read(resource.uid, signal);
    if (known === undefined && (await isBehind(resource, own.namespace, signal))) return { againMs: AGAIN_MS.unseen };
    const asked = {
      generation: resource.generation,
      credential: works.credential,
      budget: quotaOf(own.namespace, own.policy).environmentObjects,
    };
    const withheld = known && (await stillWithheld(known, asked, signal));
    return withheld === undefined ? record(resource, own, works, signal) : { finding: overBudget(withheld) };
  }

  /**
   * Records an environment that works. The credential is stored before the row is connected: a connected row must
   * always have one.
   */
  async function record(resource: ObservedResource, ownNamespace: OwnNamespace, works: Works, signal: AbortSignal): Promise<Followed> {
    const { name, uid, generation } = resource;
    const { namespace, policy, trustClass } = ownNamespace;
    const { secretName: _, ...request } = works.request;
    const workspace = { plane: "kubernetes", apiCluster, namespace: namespace.name, namespaceUid: namespace.uid, trustClass } as const;
    const newIds = { workspaceId: ids.next<never>(), environmentId: ids.next<never>() };
    const { id, workspaceId, hasAccount } = await environments.claim({ workspace, newIds, name, uid }, signal);
    const before = hasAccount ? await environments.read(uid, signal) : undefined;
    const ask = { id, workspaceId, ...works, egress: policy.egress };
    const provided = await access.provide(ask, before, signal);
    if (provided.kind === "no-owner") {
      // Accounts are made for owners. Without one the environment stays withdrawn, so that nothing is deployed with
      // the user's own credential.
      await environments.withdraw(uid, signal);
      return { awaits: workspaceId };
    }
    if (provided.kind === "moving") return { againMs: AGAIN_MS.leftBehind };
    if (provided.kind !== "installed") return { finding: provided.finding, isInstalling: provided.kind === "waiting" };
    const isChange = await environments.connect({ id, generation, fingerprint: provided.fingerprint, ...request }, signal);
    const { renewAt } = provided;
    if (!(await access.tidy(ask, before, isChange, signal))) return { againMs: AGAIN_MS.leftBehind };
    return renewAt === undefined ? {} : { renewAt };
  }

  /**
   * Why an environment is kept from instances, as long as that is so: it ends some time after it began, sooner where its user has changed
   * the resource or what is in its Secret, or more is allowed by now.
   */
  async function stillWithheld(
    known: Environment,
    {
      generation,
      credential,
      budget,
    }: Pick<AccountAsk, "credential"> & { readonly generation: number; readonly budget: number | undefined },
    signal: AbortSignal,
  ): Promise<Withholding | undefined> {
    const { id, uid, workspaceId, withheld } = known;
    if (!isWithheld(withheld)) return undefined;
    const use = { purpose: known.createsAccount ? OWNER_PURPOSE : ENVIRONMENT_PURPOSE } as const;
    const stored = await deps.credentials.read(environmentCredentialKey(id, workspaceId, use), signal);
    const isChanged = known.generation !== generation || stored !== canonicalJson(credential);
    if (!isWithholdingOver(withheld, { now: clock.now(), isChanged, budget })) return withheld;
    await environments.endWithholding(uid, signal);
    return undefined;
  }

  /**
   * Whether this resource or its namespace was deleted, or replaced by a new one of the same name, and the watch does
   * not show that yet. A claim would then end the newer environment of this name, or put this one into the former
   * namespace's workspace.
   */
  async function isBehind(resource: ObservedResource, namespace: ObservedNamespace, signal: AbortSignal): Promise<boolean> {
    if ((await resources.readUid(resource, signal)) !== resource.uid) return true;
    return (await namespaces.readNamespaceUid(namespace.name, signal)) !== namespace.uid;
  }

  return reconcile;
}
