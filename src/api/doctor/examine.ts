import type { Clock, Millis } from "../../domain/clock.ts";
import { RefusedError } from "../../domain/errors.ts";
import { classOf, type EngineClusterSpec, type FleetSpec, isScaled } from "../../domain/fleet.ts";
import type { Instance } from "../../domain/instance.ts";
import type { ResourceLimits } from "../../domain/raised-resources.ts";
import { ROLES, type Role } from "../../domain/role.ts";
import type { KubeClient } from "../../runtime/kube/client.ts";
import type { Store } from "../../store/port.ts";
import { readOpenFindings } from "../open-findings.ts";
import type { Check } from "../port.ts";
import { readExceededShares } from "../read-exceeded-shares.ts";
import { findMissingOf, findOwnMissing } from "./ask-rights.ts";
import {
  errorSentence,
  judgeApiServers,
  judgeClassLabels,
  judgeCluster,
  judgeControllerMemory,
  judgeCpuShares,
  judgeDatabase,
  judgeEncryption,
  judgeFilters,
  judgeFleet,
  judgeHealthReports,
  judgeInstances,
  judgeInstanceTokens,
  judgeKinds,
  judgeLogins,
  judgeNetworkPolicies,
  judgeOwnershipFindings,
  judgePlainHttp,
  judgePools,
  judgeRepositoryProbes,
  judgeRights,
  judgeSessions,
  judgeTokens,
  judgeWorkspaces,
  type PoliciesFound,
  PROOF_MS,
  rightsRemedy,
  type Shortage,
} from "./checks.ts";
import { type Holder, holdersOf, holderText } from "./holders.ts";
import { listTokens } from "./list-tokens.ts";
import { readClassPolicy } from "./read-class-policy.ts";
import { readEncryption } from "./read-encryption.ts";
import { apiClusterRights, engineClusterRights, type NeededRight } from "./rights.ts";

export interface DoctorDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly approvals: { readonly fleet: "two-people" | "nobody" };
  readonly apiCluster: KubeClient;
  /** The client of a declared engine cluster; throws with the reason when there is none to be had. */
  readonly engineCluster: (name: string, signal: AbortSignal) => Promise<KubeClient>;
  /** Whether processes reach the API cluster as the pods that they are, and so as themselves. */
  readonly isInApiCluster: boolean;
  /** Whether tokens of the API cluster's users are accepted. */
  readonly reviewsTokens: boolean;
  /** How instances reach the API cluster. */
  readonly destination: { readonly server: string };
  /** Addresses of a server that only the inside reaches. */
  readonly insideAddressesOf: (server: string, signal: AbortSignal) => Promise<readonly string[]>;
  /** The image that filters of instances are run from; `undefined`: none is configured. */
  readonly filterImage: string | undefined;
  /** Where this process serves plain HTTP to other machines; `undefined`: nowhere. */
  readonly plainHttpAt: string | undefined;
  /** What a connection shows that NetworkPolicies of instances refuse. */
  readonly observePolicies: (cluster: EngineClusterSpec, instances: readonly Instance[], signal: AbortSignal) => Promise<PoliciesFound>;
  /** Whether the database is one that an administrator gave, not the embedded one. */
  readonly hasOwnDatabase: boolean;
}

/** What does not answer in this time counts as away, in ms: one hanging cluster must not hide what is known of the others. */
const CHECK_MS = 8_000;

/** A notification arrives in milliseconds; making the connection first takes some more. */
const NOTIFICATION_MS = 3_000;

/** Checks everything Argosy depends on. A check that cannot be made is a failed check, never an exception. */
export async function examine(deps: DoctorDeps, signal: AbortSignal): Promise<readonly Check[]> {
  const { store } = deps;
  const answer = await store.ping(within(CHECK_MS, signal)).catch((error: unknown) => ({ error }));
  const database = judgeDatabase(answer);
  const sessions =
    "error" in answer ? [] : [judgeSessions({ ...answer, isHeard: await store.changes.hears(within(NOTIFICATION_MS, signal)) })];
  const users = (await attempt(() => store.listLogins(within(CHECK_MS, signal)))) ?? [];
  const logins = users.length === 0 ? [] : [judgeLogins(users, deps.hasOwnDatabase)];
  const spec = (await attempt(() => store.fleet.readFleet(within(CHECK_MS, signal))))?.spec;
  const instances = (await attempt(() => store.fleet.listInstances(within(CHECK_MS, signal)))) ?? [];
  const members = (await attempt(() => store.members.listLive(within(CHECK_MS, signal)))) ?? [];
  const holders = holdersOf(members);
  const api: ClusterToExamine = {
    name: `API cluster ${deps.apiCluster.cluster}`,
    part: "api",
    rights: (roles) => apiClusterRights(roles, deps),
    holders,
    client: async () => deps.apiCluster,
  };
  const engines = (spec?.engineClusters ?? []).map(
    ({ name, access }): ClusterToExamine => ({
      name: `engine cluster ${name}`,
      part: "engine",
      rights: engineClusterRights,
      // By a kubeconfig everybody is the same there; in the cluster that Argosy runs in each is who it is.
      holders: access.kind === "inCluster" && deps.isInApiCluster ? holders : undefined,
      client: (limited: AbortSignal) => deps.engineCluster(name, limited),
    }),
  );
  const clusters = await Promise.all([api, ...engines].map((cluster) => examineCluster(cluster, within(CHECK_MS, signal))));
  const declared =
    spec === undefined
      ? []
      : [
          ...judgePools(spec, instances, await readShortage(store, spec, within(CHECK_MS, signal))),
          ...judgeFilters(spec, deps.filterImage),
          await examineServers(deps, spec, within(CHECK_MS, signal)),
          await examineTokens(deps, spec, within(CHECK_MS, signal)),
          await examinePolicies(deps, spec, instances, within(CHECK_MS, signal)),
          ...(hasLabelRules(spec) ? [judgeClassLabels(await readClassPolicy(deps.apiCluster, within(CHECK_MS, signal)))] : []),
        ];
  const encryption = await examineEncryption(deps, spec, within(CHECK_MS, signal));
  const kinds = await attempt(() => store.operations.listDeployedKinds(within(CHECK_MS, signal)));
  const policy = spec === undefined ? [] : [judgeControllerMemory(spec), judgeWorkspaces(spec), judgeKinds(spec, kinds ?? [])];
  const open = await attempt(() => readOpenFindings(store, within(CHECK_MS, signal)));
  const shares = await examineShares(deps, { spec, instances }, within(CHECK_MS, signal));
  const ownership = open === undefined ? [] : [judgeOwnershipFindings(open)];
  const probes = await examineProbes(deps, within(CHECK_MS, signal));
  const verdicts = await attempt(() => store.health.listVerdicts(within(CHECK_MS, signal)));
  const health = verdicts === undefined ? [] : [judgeHealthReports(verdicts, instances, deps.clock.now())];
  const fleet = database.ok
    ? [judgeFleet(spec, deps.approvals), ...declared, ...policy, ...shares, ...health, ...ownership, ...probes]
    : [];
  const tokens = await attempt(() => store.tokens.list(within(CHECK_MS, signal)));
  const access = [judgePlainHttp(deps.plainHttpAt), ...(tokens === undefined ? [] : [judgeTokens(tokens, deps.clock.now())])];
  return [
    database,
    ...sessions,
    ...logins,
    ...access,
    ...clusters.flat(),
    encryption,
    ...fleet,
    ...judgeInstances(instances, spec?.versions.floor, deps.clock.now()),
  ];
}

async function examineProbes({ store, clock }: DoctorDeps, signal: AbortSignal): Promise<readonly Check[]> {
  const overdue = await attempt(() => store.repositoryAccess.readOverdue((clock.now() - PROOF_MS) as Millis, signal));
  return overdue === undefined ? [] : [judgeRepositoryProbes(overdue, clock.now())];
}

/** Nothing where no share is declared. */
async function examineShares(
  { store, clock }: DoctorDeps,
  facts: { readonly spec: FleetSpec | undefined; readonly instances: readonly Instance[] },
  signal: AbortSignal,
): Promise<readonly Check[]> {
  if (facts.spec?.workspaces.cpuShares === undefined) return [];
  const exceeded = await attempt(() => readExceededShares(store, { ...facts, now: clock.now() }, signal));
  return exceeded === undefined ? [] : [judgeCpuShares(exceeded)];
}

/** Which classes need more instances than their pools may have, and which instances more resources. */
async function readShortage({ loads }: Store, { pools }: FleetSpec, signal: AbortSignal): Promise<Shortage> {
  const decided = pools.filter((pool) => isScaled(pool) || pool.resources.max !== undefined);
  const names = [...new Set(decided.map(classOf))];
  const states = await Promise.all(names.map(async (name) => ({ name, state: await attempt(() => loads.readState(name, signal)) })));
  return {
    classes: new Set(states.filter(({ state }) => state?.sizing?.shortSince !== undefined).map(({ name }) => name)),
    limits: Object.assign({}, ...states.map(({ state }) => state?.limits ?? {})) as ResourceLimits,
  };
}

interface ClusterToExamine {
  readonly name: string;
  readonly part: "api" | "engine";
  readonly rights: (roles: readonly Role[]) => readonly NeededRight[];
  /** Who acts there. Absent: one account for all roles, which is that of the client. */
  readonly holders: readonly Holder[] | undefined;
  readonly client: (signal: AbortSignal) => Promise<KubeClient>;
}

async function examineCluster(cluster: ClusterToExamine, signal: AbortSignal): Promise<readonly Check[]> {
  try {
    const client = await cluster.client(signal);
    const { gitVersion } = await client.request<{ readonly gitVersion: string }>({ method: "GET", path: "/version" }, signal);
    return [judgeCluster(cluster.name, gitVersion), ...(await examineRights(cluster, client, signal))];
  } catch (error) {
    return [{ name: cluster.name, ok: false, detail: errorSentence(error), remedy: "See that it runs and that its kubeconfig is right" }];
  }
}

async function examineRights(cluster: ClusterToExamine, client: KubeClient, signal: AbortSignal): Promise<readonly Check[]> {
  const { name, part, rights, holders } = cluster;
  if (holders === undefined) return [judgeRights({ name, part, missing: await findOwnMissing(client, rights(ROLES), signal) })];
  return Promise.all(
    holders.map(async (holder) => {
      const needed = rights(holder.roles);
      const own = { name: holders.length === 1 ? name : `${name} as ${shortName(holder)}`, part, holder };
      if (holder.account === undefined) return judgeRights({ ...own, missing: await findOwnMissing(client, needed, signal) });
      try {
        return judgeRights({ ...own, missing: await findMissingOf(client, holder.account, needed, signal) });
      } catch (error) {
        if (!(error instanceof RefusedError)) throw error;
        const detail = `not known for ${holderText(holder)}: whoever answers may not ask what others may do`;
        return { name: `permissions on ${own.name}`, ok: false, detail, remedy: rightsRemedy("api") };
      }
    }),
  );
}

/** Of `system:serviceaccount:<namespace>:<name>` the name. */
function shortName({ account }: Holder): string {
  return account?.user.split(":").at(-1) ?? "whoever answers";
}

/** Finds out where the API servers are that instances have to reach. A cluster that is away is left out: its own check says so. */
async function examineServers(deps: DoctorDeps, spec: FleetSpec, signal: AbortSignal): Promise<Check> {
  const { apiCluster, destination, engineCluster, insideAddressesOf } = deps;
  const engines = spec.engineClusters.map(async ({ name }) => {
    const client = await attempt(() => engineCluster(name, signal));
    return client === undefined ? [] : [{ cluster: name, server: client.server }];
  });
  const servers = [{ cluster: apiCluster.cluster, server: destination.server }, ...(await Promise.all(engines)).flat()];
  const observed = servers.map(async ({ cluster, server }) => ({
    cluster,
    addresses: (await attempt(() => insideAddressesOf(server, signal))) ?? [],
  }));
  return judgeApiServers(spec, await Promise.all(observed));
}

/** A cluster that is away is left out: its own check says so. */
async function examineTokens({ engineCluster, clock }: DoctorDeps, spec: FleetSpec, signal: AbortSignal): Promise<Check> {
  const found = spec.engineClusters.map(
    async ({ name }) => (await attempt(async () => listTokens(await engineCluster(name, signal), signal))) ?? [],
  );
  return judgeInstanceTokens((await Promise.all(found)).flat(), clock.now());
}

/** Where nothing is hosted yet there is nothing to try. */
async function examinePolicies(
  { observePolicies }: DoctorDeps,
  { engineClusters }: FleetSpec,
  instances: readonly Instance[],
  signal: AbortSignal,
): Promise<Check> {
  return judgeNetworkPolicies(await Promise.all(engineClusters.map((cluster) => observePolicies(cluster, instances, signal))));
}

/** The cluster that Argosy runs in is asked once, whatever parts it plays. */
async function examineEncryption(deps: DoctorDeps, spec: FleetSpec | undefined, signal: AbortSignal): Promise<Check> {
  const others = (spec?.engineClusters ?? []).filter(({ access }) => !(access.kind === "inCluster" && deps.isInApiCluster));
  const engines = others.map(async ({ name }) => {
    const client = await attempt(() => deps.engineCluster(name, signal));
    return client === undefined ? { cluster: name, unseen: "it does not answer" } : readEncryption(client, signal);
  });
  return judgeEncryption(await Promise.all([readEncryption(deps.apiCluster, signal), ...engines]));
}

function within(ms: number, signal: AbortSignal): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(ms)]);
}

/** A part that cannot be read is reported by another check already. */
async function attempt<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch {
    return undefined;
  }
}

/** Whether labels of namespaces decide on which instances workspaces live. */
function hasLabelRules({ workspaces: { classes, groups } }: FleetSpec): boolean {
  return classes !== undefined || groups !== undefined;
}
