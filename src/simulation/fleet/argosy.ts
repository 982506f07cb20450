import type { MemberId } from "../../domain/ids.ts";
import { ACCOUNTS_NAMESPACE } from "../../domain/names.ts";
import { createManagedCluster, createObservations } from "../../mover/adapters/kubernetes/clusters.ts";
import { createMover } from "../../mover/controller.ts";
import { nextMoveStep } from "../../mover/next-step.ts";
import type { ManagedCluster, ObservationSource } from "../../mover/port.ts";
import { createMoveRequests } from "../../mover/request-moves.ts";
import { createApiCluster, createEngines } from "../../reconciler/adapters/kubernetes/clusters.ts";
import { createReconciler } from "../../reconciler/controller.ts";
import type { ApiCluster, Engines } from "../../reconciler/port.ts";
import type { KubeClient } from "../../runtime/kube/client.ts";
import { createScheduler } from "../../scheduler/controller.ts";
import { createMembership } from "../../store/member/keep-membership.ts";
import type { Store } from "../../store/port.ts";
import { silentLog } from "../../telemetry/log.ts";
import { noMetrics } from "../../telemetry/metrics.ts";
import { createUserResources } from "../../workspace/adapters/kubernetes/user-resources.ts";
import { createDeploymentController } from "../../workspace/deployment/controller.ts";
import type { UserResources } from "../../workspace/port.ts";
import { noEnvironments } from "../models/no-environments.ts";
import type { Party } from "../world/party.ts";

/** What one process of Argosy is connected to. */
export interface SimulatedProcess {
  readonly party: Party;
  readonly store: Store;
  readonly api: KubeClient;
  readonly engines: readonly KubeClient[];
  /** As in the configuration of the API cluster. */
  readonly isSingleServer: boolean;
}

/** The ports of one process. Deliberate bugs may break them before the roles get them. */
export interface Ports {
  readonly store: Store;
  readonly apiCluster: ApiCluster;
  readonly engines: Engines;
  readonly resources: UserResources;
  readonly observations: ObservationSource;
  readonly managed: ManagedCluster;
  /** Decides the steps of live moves. */
  readonly decide: typeof nextMoveStep;
}

export type Breaker = (ports: Ports, party: Party) => Ports;

/** How every instance addresses the API cluster. */
const DESTINATION = { server: "https://api.example", caData: "Y2E=" };
const ROLES = ["workspace", "scheduler", "reconciler"];
const LEASES = { ttlMs: 15_000, renewMs: 5_000 };
/** As in the configuration. */
const UNFINISHED_PER_UNIT = 16;
/** As in the configuration: at rest, when nothing is to be written, no run is so long that a token is replaced. */
const TOKEN_LIFE = { lifeMs: 43_200_000, renewAfterMs: 28_800_000 };

/** Starts one process with all its roles, wired as the composition root wires them. It ends only with its party, or with the world. */
export function startArgosy({ party, store, api, engines: engineClients, isSingleServer }: SimulatedProcess, breaker: Breaker): void {
  const { clock, rng, ids, signal } = party;
  const common = { clock, ids, log: silentLog, metrics: noMetrics };
  const apiCluster = createApiCluster({
    ...common,
    rng: rng.fork("api cluster"),
    client: api,
    namespaces: { accounts: ACCOUNTS_NAMESPACE },
  });
  const clientOf = (name: string) => engineClients.find(({ cluster }) => cluster === name);
  const engines = createEngines({
    ...common,
    rng: rng.fork("engines"),
    clientOf: async (name) => clientOf(name),
    signal,
  });
  const watched = createUserResources({ ...common, rng: rng.fork("resources"), client: api });
  const observations: ObservationSource = {
    async of(name) {
      const client = clientOf(name);
      return client && createObservations(client);
    },
  };
  const live = { observations, managed: createManagedCluster(api), decide: nextMoveStep };
  const ports = breaker({ store, apiCluster, engines, resources: watched, ...live }, party);

  const membership = createMembership({
    ...common,
    ...{ store: ports.store.members, changes: ports.store.changes, memberId: ids.next<MemberId>(), roles: ROLES, ...LEASES },
  });
  const deps = (role: string) => ({ ...common, rng: rng.fork(role), store: ports.store, partition: membership.partition(role) });
  membership.start(signal);
  createDeploymentController({ ...deps("workspace"), resources: ports.resources, apiCluster: api.cluster, provesAccess: false }).start(
    signal,
  );
  createScheduler({ ...deps("scheduler"), moving: createMoveRequests({ ...common, store: ports.store }) }).start(signal);
  apiCluster.start(signal);
  const place = { destination: DESTINATION, namespaces: { accounts: ACCOUNTS_NAMESPACE } };
  const reconciler = createReconciler({
    ...{ ...deps("reconciler"), ...place, apiCluster: ports.apiCluster, engines: ports.engines },
    unfinishedPerUnit: UNFINISHED_PER_UNIT,
    tokenLife: TOKEN_LIFE,
    // Nothing here was made by an earlier version.
    formerStaysMs: 0,
  });
  reconciler.start(signal);
  createMover({
    ...{
      ...deps("reconciler"),
      ...place,
      rng: rng.fork("mover"),
      watch: engines,
      observations: ports.observations,
      managed: ports.managed,
      decide: ports.decide,
    },
    ...{ unitPrerequisites: reconciler.unitPrerequisites, ownerBindings: noEnvironments, isSingleServer },
  }).start(signal);
}
