import { setTimeout } from "node:timers/promises";
import type { FleetSpec } from "../../domain/fleet.ts";
import type { Ids } from "../../domain/ids.ts";
import type { Instance, InstanceState } from "../../domain/instance.ts";
import { byInstanceName } from "../../domain/instance-name.ts";
import type { Partition } from "../../domain/partition.ts";
import { createCountingIds } from "../../runtime/ids.ts";
import type { KubeClient } from "../../runtime/kube/client.ts";
import type { KubeObject, ResourceType } from "../../runtime/kube/resource.ts";
import type { FakeApiServer } from "../../runtime/kube/testing/fake-api-server.ts";
import { startFakeApiServer } from "../../runtime/kube/testing/fake-api-server.ts";
import type { ResourceController } from "../../runtime/resource-controller/resource-controller.ts";
import { createSeededRng } from "../../runtime/rng.ts";
import { createVirtualClock, type VirtualClock } from "../../runtime/testing/virtual-clock.ts";
import { createMemoryStore, type MemoryStore } from "../../store/adapters/memory/memory-store.ts";
import { silentLog } from "../../telemetry/log.ts";
import { noMetrics } from "../../telemetry/metrics.ts";
import { createSecretMaker } from "../adapters/certificates/secret-maker.ts";
import { createEngineClusters } from "../adapters/kubernetes/engine-clusters.ts";
import { DEPLOYMENTS, STATEFUL_SETS } from "../adapters/kubernetes/types.ts";
import { createProvisioner } from "../controller.ts";
import type { CrdSource, EngineClusterPort } from "../port.ts";
import type { Through } from "./faults.ts";
import { aFleet } from "./instances.ts";

const EVERYTHING_IS_MINE: Partition = { isMine: () => true, onChange: () => () => undefined };

/** Two CRDs that are small enough to read in a failing test. */
const CRDS: CrdSource = {
  read: async () =>
    ["applications", "appprojects"].map((plural) => ({
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: `${plural}.argoproj.io` },
      spec: { group: "argoproj.io" },
    })),
};

/** Rows in memory, one engine cluster whose pods become ready, and provisioners to start. Time passes only in `until`. */
export interface World {
  readonly store: MemoryStore;
  readonly clock: VirtualClock;
  readonly server: FakeApiServer;
  /** What somebody with kubectl would use. */
  readonly hands: KubeClient;
  readonly ids: Ids;
  readonly signal: AbortSignal;
  declare(fleet?: FleetSpec): Promise<void>;
  /** Starts a provisioner. `through` wraps every port it uses. */
  startProvisioner(through?: Through): Promise<ResourceController>;
  /** Whether pods become ready from now on. */
  letPodsStart(canStart: boolean): void;
  /** By the numbers of their names. */
  instances(): Promise<readonly Instance[]>;
  /** Lets time pass until the condition holds. */
  until(what: string, holds: () => boolean | Promise<boolean>, stepMs?: number): Promise<void>;
  untilStates(...states: readonly InstanceState[]): Promise<void>;
  close(): Promise<void>;
}

export async function startWorld(): Promise<World> {
  const server = await startFakeApiServer();
  const clock = createVirtualClock();
  const store = createMemoryStore({ clock });
  const abort = new AbortController();
  const hands = server.client("hands");
  const provisioners: ResourceController[] = [];
  let canStart = true;
  const kubelet = runPods(hands, () => canStart, abort.signal);

  const until: World["until"] = async (what, holds, stepMs = 500) => {
    const deadline = performance.now() + 20_000;
    while (!(await holds())) {
      if (performance.now() > deadline)
        throw new Error(
          `waited in vain until ${what}; instances: ${JSON.stringify(await store.fleet.listInstances(abort.signal), undefined, 1)}`,
        );
      await clock.advance(stepMs);
      // Requests under way need real time: they go over real sockets.
      await setTimeout(2);
    }
  };
  const ids = createCountingIds();
  const instances = async () => (await store.fleet.listInstances(abort.signal)).toSorted(byInstanceName);
  return {
    ...{ store, clock, server, hands, ids, signal: abort.signal, until, instances },
    declare: async (fleet = aFleet()) => void (await store.fleet.applyFleet(fleet, "test", abort.signal)),
    async startProvisioner(through = (port) => port) {
      const toolkit = { clock, rng: createSeededRng(provisioners.length), log: silentLog, metrics: noMetrics };
      const client = server.client("eu-1");
      const clusters = createEngineClusters({
        ...toolkit,
        clientOf: async (name) => (name === "eu-1" ? client : undefined),
        signal: abort.signal,
      });
      const passed = new Map<EngineClusterPort, EngineClusterPort>();
      const passing = (cluster: EngineClusterPort | undefined): EngineClusterPort | undefined => {
        if (cluster === undefined) return undefined;
        const one = passed.get(cluster) ?? { ...through(cluster), name: cluster.name };
        passed.set(cluster, one);
        return one;
      };
      const provisioner = createProvisioner({
        ...toolkit,
        store: { fleet: through(store.fleet), loads: store.loads, credentials: through(store.credentials), changes: store.changes },
        clusters: { ...clusters, get: async (name) => passing(await clusters.get(name)) },
        crds: CRDS,
        secrets: createSecretMaker(),
        partition: EVERYTHING_IS_MINE,
      });
      provisioners.push(provisioner);
      provisioner.start(abort.signal);
      return provisioner;
    },
    letPodsStart(value) {
      canStart = value;
    },
    untilStates: (...states) =>
      until(
        `instances are ${states.join(", ")}`,
        async () => JSON.stringify((await instances()).map((one) => one.state)) === JSON.stringify(states),
      ),
    async close() {
      abort.abort(new Error("the test is over"));
      const stopping = Promise.all(provisioners.map((one) => one.stop()));
      // Calls under way get their grace, in virtual time.
      await clock.advance(20_000);
      await Promise.all([stopping, kubelet]);
      await server.close();
    },
  };
}

type Workload = KubeObject & { readonly spec?: { readonly replicas?: number }; readonly status?: { readonly observedGeneration?: number } };

/** Plays the cluster's own controllers: reports the pods of every workload as ready. */
async function runPods(hands: KubeClient, canStart: () => boolean, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      if (canStart()) for (const type of [DEPLOYMENTS, STATEFUL_SETS]) await runPodsOf(hands, type, signal);
      await setTimeout(5, undefined, { signal });
    } catch {
      // Somebody has deleted the object that was just read, or a test lets the server refuse.
    }
  }
}

async function runPodsOf(hands: KubeClient, type: ResourceType, signal: AbortSignal): Promise<void> {
  const { items } = await hands.listPage<Workload>(type, {}, signal);
  for (const { metadata, spec, status } of items) {
    if (status?.observedGeneration === metadata.generation) continue;
    const pods = spec?.replicas ?? 1;
    const now = { observedGeneration: metadata.generation, replicas: pods, readyReplicas: pods, updatedReplicas: pods };
    await hands.mergePatch(
      type,
      { namespace: metadata.namespace ?? "", name: metadata.name, subresource: "status" },
      { status: now },
      signal,
    );
  }
}
