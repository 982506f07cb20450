import type { Clock } from "../../domain/clock.ts";
import { DEPLOYER_ROLE, READER_ROLE } from "../../domain/names.ts";
import type { Partition } from "../../domain/partition.ts";
import { systemClock } from "../../runtime/clock.ts";
import type { KubeClient } from "../../runtime/kube/client.ts";
import { createReflector } from "../../runtime/kube/reflector.ts";
import type { KubeObject } from "../../runtime/kube/resource.ts";
import type { FakeApiServer } from "../../runtime/kube/testing/fake-api-server.ts";
import { startFakeApiServer } from "../../runtime/kube/testing/fake-api-server.ts";
import { createSeededRng } from "../../runtime/rng.ts";
import { silentLog } from "../../telemetry/log.ts";
import { noMetrics } from "../../telemetry/metrics.ts";
import { createApiCluster, createEngines } from "../adapters/kubernetes/clusters.ts";
import { APPLICATIONS, CLUSTER_ROLES } from "../adapters/kubernetes/types.ts";
import type { Reconciler, ReconcilerDeps } from "../controller.ts";
import { createReconciler } from "../controller.ts";
import type { ApiCluster, Engines } from "../port.ts";
import type { TestRows } from "./rows.ts";
import { createTestRows } from "./rows.ts";

export const DESTINATION = { server: "https://api.example:6443", caData: "Y2E=" };
export const NAMESPACES = { accounts: "argosy-accounts" };
export const TOKEN_LIFE = { lifeMs: 43_200_000, renewAfterMs: 28_800_000 };
export const EVERYTHING_IS_MINE: Partition = { isMine: () => true, onChange: () => () => undefined };

/** What a reconciler may find other than the world's own. */
export interface Surroundings
  extends Partial<Pick<ReconcilerDeps, "blockedAfterMs" | "unfinishedPerUnit" | "metrics" | "tokenLife" | "formerStaysMs">> {
  /** What its queues and timers go by; default the machine's. */
  readonly clock?: Clock;
  /** Engine clusters beside `engine`, by name. */
  readonly engineServers?: Readonly<Record<string, FakeApiServer>>;
}

/** An API cluster, an engine cluster, something that plays Argo CD, and rows. */
export interface World {
  readonly rows: TestRows;
  readonly apiServer: FakeApiServer;
  readonly engineServer: FakeApiServer;
  /** What people with kubectl, Argo CD and the cluster's own controllers use. */
  readonly hands: { readonly api: KubeClient; readonly engine: KubeClient };
  readonly signal: AbortSignal;
  /** Watches the API cluster with a cache of its own, as another process does; ways into engine clusters of its own, of which none is watched yet. */
  watch(engineServers?: Surroundings["engineServers"]): Promise<{ readonly apiCluster: ApiCluster; readonly engines: Engines }>;
  /** A running reconciler over a watch of its own. */
  startReconciler(partition?: Partition, surroundings?: Surroundings): Promise<Reconciler>;
  /** Argo CD stops to react to deletions, or does so again. */
  freezeEngine(isFrozen: boolean): void;
  close(): Promise<void>;
}

const common = { clock: systemClock, log: silentLog, metrics: noMetrics };

export async function startWorld(): Promise<World> {
  const [apiServer, engineServer] = await Promise.all([startFakeApiServer(), startFakeApiServer()]);
  const rows = createTestRows();
  const abort = new AbortController();
  const hands = { api: apiServer.client("api"), engine: engineServer.client("engine") };
  const reconcilers: Reconciler[] = [];
  const world: World = {
    rows,
    apiServer,
    engineServer,
    hands,
    signal: abort.signal,
    async watch(others = {}) {
      const rng = createSeededRng("watch");
      const apiCluster = createApiCluster({ ...common, client: apiServer.client("api"), rng, namespaces: NAMESPACES });
      apiCluster.start(abort.signal);
      await apiCluster.synced(abort.signal);
      const clients = new Map(Object.entries({ engine: engineServer, ...others }).map(([name, server]) => [name, server.client(name)]));
      const engines = createEngines({ ...common, rng, clientOf: async (name) => clients.get(name), signal: abort.signal });
      return { apiCluster, engines };
    },
    async startReconciler(partition = EVERYTHING_IS_MINE, { clock = systemClock, engineServers = {}, ...rest } = {}) {
      const { apiCluster, engines } = await world.watch(engineServers);
      // What is known before a reconciler starts is not waited for by its clock, which a test may hold.
      for (const instance of await rows.store.fleet.listInstances(abort.signal)) await (await engines.get(instance))?.synced(abort.signal);
      const reconciler = createReconciler({
        ...common,
        // Nothing plays a controller that says anything, so that nothing would ever be finished.
        unfinishedPerUnit: 0,
        tokenLife: TOKEN_LIFE,
        formerStaysMs: 0,
        clock,
        ...rest,
        store: rows.store,
        apiCluster,
        engines,
        partition,
        destination: DESTINATION,
        namespaces: NAMESPACES,
        rng: createSeededRng("reconciler"),
      });
      reconciler.start(abort.signal);
      reconcilers.push(reconciler);
      return reconciler;
    },
    freezeEngine: (isFrozen) => argo.freeze(isFrozen),
    async close() {
      await Promise.all(reconcilers.map((reconciler) => reconciler.stop()));
      abort.abort();
      await Promise.all([apiServer.close(), engineServer.close()]);
    },
  };
  const argo = playArgo(hands.engine, abort.signal);
  const role = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole" };
  await hands.api.create(CLUSTER_ROLES, { ...role, metadata: { name: DEPLOYER_ROLE } }, abort.signal);
  const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list", "watch"] }];
  await hands.api.create<KubeObject>(CLUSTER_ROLES, { ...role, metadata: { name: READER_ROLE }, rules } as KubeObject, abort.signal);
  return world;
}

const REFRESH = "argocd.argoproj.io/refresh";
const CASCADE = "resources-finalizer.argocd.argoproj.io";

/** Refreshes Applications to be deleted where asked to, and removes those whose deletion was asked for, as Argo CD does once workloads are gone. */
function playArgo(client: KubeClient, signal: AbortSignal): { freeze(isFrozen: boolean): void } {
  let isFrozen = false;
  const waiting = new Map<string, KubeObject>();
  const finish = ({ metadata }: KubeObject): void => {
    const finalizers = (metadata.finalizers ?? []).filter((finalizer) => !finalizer.startsWith(CASCADE));
    void client
      .mergePatch(APPLICATIONS, { namespace: metadata.namespace ?? "", name: metadata.name }, { metadata: { finalizers } }, signal)
      .catch(() => undefined);
  };
  const observe = (application: KubeObject): KubeObject => {
    const { metadata } = application;
    const answer = { metadata: { annotations: { [REFRESH]: null } }, status: { reconciledAt: new Date().toISOString() } };
    void client
      .mergePatch(APPLICATIONS, { namespace: metadata.namespace ?? "", name: metadata.name }, answer, signal)
      .catch(() => undefined);
    return application;
  };
  const seen = (application: KubeObject): KubeObject => {
    const { deletionTimestamp, finalizers = [], annotations, uid = "" } = application.metadata;
    if (!finalizers.some((finalizer) => finalizer.startsWith(CASCADE))) return application;
    if (deletionTimestamp === undefined) return annotations?.[REFRESH] === undefined ? application : observe(application);
    if (isFrozen) waiting.set(uid, application);
    else finish(application);
    return application;
  };
  createReflector({ ...common, client, type: APPLICATIONS, rng: createSeededRng("argo"), project: seen, onChange: () => undefined }).start(
    signal,
  );
  return {
    freeze(frozen) {
      isFrozen = frozen;
      if (frozen) return;
      waiting.forEach(finish);
      waiting.clear();
    },
  };
}
