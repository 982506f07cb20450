import type { MemberId } from "../../domain/ids.ts";
import { ACCOUNTS_NAMESPACE } from "../../domain/names.ts";
import { createApiCluster, createEngines } from "../../reconciler/adapters/kubernetes/clusters.ts";
import { createReconciler } from "../../reconciler/controller.ts";
import type { ApiCluster, Engines } from "../../reconciler/port.ts";
import type { KubeClient } from "../../runtime/kube/client.ts";
import { createScheduler } from "../../scheduler/controller.ts";
import { createMembership } from "../../store/member/controller.ts";
import type { Store } from "../../store/port.ts";
import { silentLog } from "../../telemetry/log.ts";
import { noMetrics } from "../../telemetry/metrics.ts";
import { createUserResources } from "../../workspace/adapters/kubernetes/user-resources.ts";
import { createWorkspaceDoor } from "../../workspace/controller.ts";
import type { UserResources } from "../../workspace/port.ts";
import type { Party } from "../world/party.ts";

/** What one process of Argosy stands on. */
export interface Ground {
  readonly party: Party;
  readonly store: Store;
  readonly api: KubeClient;
  readonly engine: KubeClient;
}

/** The ports of one process, which deliberate bugs may break before the roles are given them. */
export interface Ports {
  readonly store: Store;
  readonly apiCluster: ApiCluster;
  readonly engines: Engines;
  readonly resources: UserResources;
}

export type Breaker = (ports: Ports, party: Party) => Ports;

/** How every instance addresses the API cluster. */
const DESTINATION = { server: "https://api.example", caData: "Y2E=" };
const ROLES = ["workspace", "scheduler", "reconciler"];
const LEASES = { ttlMs: 15_000, renewMs: 5_000 };
/** As the configuration has it. */
const UNFINISHED_PER_UNIT = 16;

/** Starts one process with all its roles, wired as the composition root wires them. It ends only by its party's death. */
export function startArgosy({ party, store, api, engine }: Ground, breaker: Breaker): void {
  const ending = new AbortController();
  const { signal } = ending;
  const { clock, rng, ids } = party;
  const common = { clock, ids, log: silentLog, metrics: noMetrics };
  const apiCluster = createApiCluster({
    ...common,
    rng: rng.fork("api cluster"),
    client: api,
    namespaces: { accounts: ACCOUNTS_NAMESPACE },
  });
  const engines = createEngines({
    ...common,
    rng: rng.fork("engines"),
    clientOf: async (name) => (name === engine.cluster ? engine : undefined),
    signal,
  });
  const watched = createUserResources({ ...common, rng: rng.fork("resources"), client: api });
  const ports = breaker({ store, apiCluster, engines, resources: watched }, party);

  const membership = createMembership({ ...common, store: ports.store.members, memberId: ids.next<MemberId>(), roles: ROLES, ...LEASES });
  const deps = (role: string) => ({ ...common, rng: rng.fork(role), store: ports.store, partition: membership.partition(role) });
  membership.start(signal);
  createWorkspaceDoor({ ...deps("workspace"), resources: ports.resources, apiCluster: api.cluster }).start(signal);
  createScheduler(deps("scheduler")).start(signal);
  apiCluster.start(signal);
  createReconciler({
    ...deps("reconciler"),
    unfinishedPerUnit: UNFINISHED_PER_UNIT,
    ...{ apiCluster: ports.apiCluster, engines: ports.engines, destination: DESTINATION, namespaces: { accounts: ACCOUNTS_NAMESPACE } },
  }).start(signal);
}
