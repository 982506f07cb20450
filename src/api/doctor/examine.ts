import type { Clock } from "../../domain/clock.ts";
import type { FleetSpec } from "../../domain/fleet.ts";
import type { KubeClient } from "../../runtime/kube/client.ts";
import type { Store } from "../../store/port.ts";
import { readOpenFindings } from "../open-findings.ts";
import type { Check } from "../port.ts";
import {
  errorSentence,
  judgeApiServers,
  judgeCluster,
  judgeDatabase,
  judgeFleet,
  judgeHealthReports,
  judgeInstances,
  judgeOwnershipFindings,
  judgePools,
  judgeRights,
  judgeSessions,
} from "./checks.ts";
import { apiClusterRights, engineClusterRights, type NeededRight } from "./rights.ts";

export interface DoctorDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly apiCluster: KubeClient;
  /** The client of a declared engine cluster; throws with the reason when there is none to be had. */
  readonly engineCluster: (name: string, signal: AbortSignal) => Promise<KubeClient>;
  /** How instances reach the API cluster. */
  readonly destination: { readonly server: string };
  /** Addresses of a server that only the inside reaches. */
  readonly insideAddressesOf: (server: string, signal: AbortSignal) => Promise<readonly string[]>;
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
  const spec = (await attempt(() => store.fleet.readFleet(within(CHECK_MS, signal))))?.spec;
  const instances = (await attempt(() => store.fleet.listInstances(within(CHECK_MS, signal)))) ?? [];
  const api = {
    name: `API cluster ${deps.apiCluster.cluster}`,
    part: "api",
    rights: apiClusterRights(),
    client: async () => deps.apiCluster,
  } as const;
  const engines = (spec?.engineClusters ?? []).map(
    ({ name }) =>
      ({
        name: `engine cluster ${name}`,
        part: "engine",
        rights: engineClusterRights(),
        client: (limited: AbortSignal) => deps.engineCluster(name, limited),
      }) as const,
  );
  const clusters = await Promise.all([api, ...engines].map((cluster) => examineCluster(cluster, within(CHECK_MS, signal))));
  const declared = spec === undefined ? [] : [...judgePools(spec, instances), await examineServers(deps, spec, within(CHECK_MS, signal))];
  const open = await attempt(() => readOpenFindings(store, within(CHECK_MS, signal)));
  const ownership = open === undefined ? [] : [judgeOwnershipFindings(open)];
  const verdicts = await attempt(() => store.health.listVerdicts(within(CHECK_MS, signal)));
  const health = verdicts === undefined ? [] : [judgeHealthReports(verdicts, instances, deps.clock.now())];
  const fleet = database.ok ? [judgeFleet(spec), ...declared, ...health, ...ownership] : [];
  return [database, ...sessions, ...clusters.flat(), ...fleet, ...judgeInstances(instances, spec?.versions.floor, deps.clock.now())];
}

interface ClusterToExamine {
  readonly name: string;
  readonly part: "api" | "engine";
  readonly rights: readonly NeededRight[];
  readonly client: (signal: AbortSignal) => Promise<KubeClient>;
}

async function examineCluster(cluster: ClusterToExamine, signal: AbortSignal): Promise<readonly Check[]> {
  try {
    const client = await cluster.client(signal);
    const { gitVersion } = await client.request<{ readonly gitVersion: string }>({ method: "GET", path: "/version" }, signal);
    const answers = await Promise.all(cluster.rights.map((right) => isAllowed(client, right, signal)));
    const missing = cluster.rights.filter((_right, index) => answers[index] !== true);
    return [judgeCluster(cluster.name, gitVersion), judgeRights(cluster.name, missing, cluster.part)];
  } catch (error) {
    return [{ name: cluster.name, ok: false, detail: errorSentence(error), remedy: "See that it runs and that its kubeconfig is right" }];
  }
}

async function isAllowed(client: KubeClient, right: NeededRight, signal: AbortSignal): Promise<boolean> {
  const body = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview", spec: { resourceAttributes: right } };
  const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
  const { status } = await client.request<{ readonly status: { readonly allowed: boolean } }>(
    { method: "POST", path, body, idempotent: true },
    signal,
  );
  return status.allowed;
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
