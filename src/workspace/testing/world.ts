import { setTimeout } from "node:timers/promises";
import { type Clock, millis } from "../../domain/clock.ts";
import type { Decision } from "../../domain/decision.ts";
import type { FleetSpec } from "../../domain/fleet.ts";
import { contentHash } from "../../domain/hash.ts";
import type { InstanceId, MoveId } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
import { asLoadVector } from "../../domain/load.ts";
import type { MovePhase } from "../../domain/move.ts";
import type { Partition } from "../../domain/partition.ts";
import type { EngineStatus } from "../../domain/status.ts";
import { systemClock } from "../../runtime/clock.ts";
import { createCountingIds } from "../../runtime/ids.ts";
import type { KubeClient } from "../../runtime/kube/client.ts";
import { NAMESPACES } from "../../runtime/kube/namespaces.ts";
import type { KubeObject } from "../../runtime/kube/resource.ts";
import { type FakeApiServer, startFakeApiServer } from "../../runtime/kube/testing/fake-api-server.ts";
import type { ResourceController } from "../../runtime/resource-controller/resource-controller.ts";
import { createSeededRng } from "../../runtime/rng.ts";
import { createMemoryStore, type MemoryStore } from "../../store/adapters/memory/memory-store.ts";
import type { UserView } from "../../store/intent/port.ts";
import type { ChangeFeed } from "../../store/port.ts";
import { silentLog } from "../../telemetry/log.ts";
import { noMetrics } from "../../telemetry/metrics.ts";
import { createUserResources, USER_DEPLOYMENTS } from "../adapters/kubernetes/user-resources.ts";
import type { DeploymentStatus } from "../api/schema.ts";
import { createDeploymentController } from "../deployment/controller.ts";
import { anEngineStatus, aSpec, REPOSITORY } from "./builders.ts";

const CLUSTER = "api";
export const EVERYTHING_IS_MINE: Partition = { isMine: () => true, onChange: () => () => undefined };

const POOL = {
  name: "standard",
  class: { region: "eu", tier: "shared", trust: "public" },
  engineClusters: ["eu-1"],
  instances: { min: 1, max: 1 },
  version: undefined,
  capacity: asLoadVector({ applications: 1_000_000, clusterEntries: 60, cachedResources: 250_000, milliCpu: 2000, gitPerMinute: 600_000 }),
  resources: {
    controller: { cpu: "1", memory: "1Gi" },
    repoServer: { cpu: "1", memory: "1Gi", replicas: 1 },
    redis: { cpu: "1", memory: "1Gi" },
  },
  engine: {
    statusProcessors: 1,
    operationProcessors: 1,
    k8sClientQps: 1,
    k8sClientBurst: 1,
    reconciliationSeconds: 1,
    reconciliationJitterSeconds: 1,
  },
} as const;

export const FLEET: FleetSpec = {
  engineClusters: [{ name: "eu-1", region: "eu", access: { kind: "inCluster" } }],
  versions: { default: "3.5.7", floor: "3.5.1", catalogue: [] },
  pools: [POOL],
  workspaces: { selector: {}, everyNamespace: true, quota: { deployments: 1000, syncsPerMinute: 20 } },
  deployments: { allowedGroups: [] },
  egress: { allow: [], http: [] },
};

const INSTANCE: Instance = {
  id: "instance-1" as InstanceId,
  name: "standard-1",
  engineCluster: "eu-1",
  namespace: "argosy-standard-1",
  pool: "standard",
  class: "eu/shared/public",
  version: "3.5.7",
  desiredVersion: "3.5.7",
  state: "ACTIVE",
  stateSince: millis(0),
  reason: "",
  attempt: 0,
  capacity: POOL.capacity,
  weight: 1,
  appliedHash: "",
  cause: undefined,
  halt: "none",
  failsOver: false,
  entries: "shared",
  revision: 1,
};
const UNTIL_COMMIT: readonly MovePhase[] = ["PREPARE", "FENCE", "QUIESCE", "REVOKE", "COMMIT"];
const aDecision = (subject: string): Decision => ({
  at: millis(0),
  subject,
  kind: "placement",
  verdict: "CHOSEN",
  rule: "PREFERRED",
  details: {},
});

export interface Deployment extends KubeObject {
  readonly spec?: unknown;
  readonly status?: DeploymentStatus;
}

/** The users' cluster, the database, and hands that act as users, scheduler and engine. */
export interface World {
  readonly server: FakeApiServer;
  readonly store: MemoryStore;
  readonly hands: KubeClient;
  readonly signal: AbortSignal;
  /** A running controller with watches of its own. `clock` is what its queues and timers go by; default the machine's. */
  startController(partition?: Partition, clock?: Clock): ResourceController;
  /** Notifications of the database get lost, or arrive again from now on; that some were lost is all that is said of these. */
  loseNotifications(isLosing: boolean): void;
  applyFleet(over?: Partial<FleetSpec>): Promise<void>;
  namespace(name: string, labels?: Readonly<Record<string, string>>): Promise<void>;
  apply(
    name: string,
    over?: {
      readonly namespace?: string;
      readonly spec?: unknown;
      readonly finalizers?: readonly string[];
      readonly annotations?: Readonly<Record<string, string>>;
    },
  ): Promise<void>;
  remove(name: string, namespace?: string): Promise<void>;
  read(name: string, namespace?: string): Promise<Deployment | undefined>;
  /** `Type=Status/Reason` of each condition, sorted. */
  said(name: string, namespace?: string): Promise<readonly string[]>;
  /** The row of the present resource of that name. */
  row(name: string, namespace?: string): Promise<UserView | undefined>;
  rowOf(uid: string): Promise<UserView | undefined>;
  /** Places the row's unit, if it is not placed, and lets its instance say something. */
  answer(name: string, status?: Partial<EngineStatus>, namespace?: string): Promise<void>;
  /** Somebody assigns the one workspace there is this class. */
  assign(className: string): Promise<void>;
  /** A live move has brought the row's unit, which is placed, to an instance of another class. */
  arrive(name: string, className: string): Promise<void>;
  /** The engine has deleted everything of this row. */
  finishDeletion(uid: string): Promise<void>;
  statusWrites(name?: string): number;
  close(): Promise<void>;
}

export async function startWorld(): Promise<World> {
  const server = await startFakeApiServer();
  const store = createMemoryStore({ clock: systemClock });
  const hands = server.client("hands");
  const ids = createCountingIds();
  const abort = new AbortController();
  const { signal } = abort;
  const controllers: ResourceController[] = [];
  const listeners = new Set<(changes: "missed") => void>();
  let isLosing = false;
  const changes: ChangeFeed = {
    isConnected: store.changes.isConnected,
    hears: store.changes.hears,
    subscribe(listener) {
      listeners.add(listener);
      return store.changes.subscribe((notifications) => (isLosing ? undefined : listener(notifications)));
    },
  };
  const at = (name: string, namespace = "jane") => ({ namespace, name });
  const rowOf = async (uid: string) => (await store.intents.readByUids([uid], signal))[0];

  const world: World = {
    server,
    store,
    hands,
    signal,
    startController(partition = EVERYTHING_IS_MINE, clock = systemClock) {
      const common = { rng: createSeededRng(`controller ${controllers.length}`), log: silentLog, metrics: noMetrics };
      const resources = createUserResources({ ...common, clock: systemClock, client: server.client(CLUSTER) });
      const controller = createDeploymentController({
        ...common,
        clock,
        store: { ...store, changes },
        resources,
        apiCluster: CLUSTER,
        provesAccess: false,
        partition,
        ids,
      });
      controllers.push(controller);
      controller.start(signal);
      return controller;
    },
    loseNotifications(losing) {
      isLosing = losing;
      if (!losing) for (const listener of listeners) listener("missed");
    },
    async applyFleet(over = {}) {
      await store.fleet.applyFleet({ ...FLEET, ...over }, "test", signal);
    },
    async namespace(name, labels = {}) {
      await hands.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } }, signal);
    },
    async apply(name, { namespace, spec = aSpec(), finalizers, annotations } = {}) {
      const metadata = { ...at(name, namespace), ...(finalizers && { finalizers }), ...(annotations && { annotations }) };
      const resource = { apiVersion: "managed-gitops.redhat.com/v1alpha1", kind: "GitOpsDeployment", metadata, spec };
      await hands.apply(USER_DEPLOYMENTS, resource, { fieldManager: "jane" }, signal);
    },
    remove: (name, namespace) => hands.delete(USER_DEPLOYMENTS, at(name, namespace), {}, signal),
    read: (name, namespace) => hands.get<Deployment>(USER_DEPLOYMENTS, at(name, namespace), signal),
    async said(name, namespace) {
      const conditions = (await world.read(name, namespace))?.status?.conditions ?? [];
      return conditions.map(({ type, status, reason }) => `${type}=${status}/${reason}`);
    },
    async row(name, namespace) {
      const uid = (await world.read(name, namespace))?.metadata.uid;
      return uid === undefined ? undefined : rowOf(uid);
    },
    rowOf,
    async answer(name, status = {}, namespace) {
      const row = await world.row(name, namespace);
      if (row === undefined) throw new Error(`no row of ${name}`);
      const { unitId, id, spec } = row.application;
      await store.fleet.insertInstance(INSTANCE, aDecision(INSTANCE.id), signal);
      const found = await store.placements.readUnit(unitId, signal);
      if (found?.unit.owner === undefined) {
        const { capacity: ceiling } = POOL;
        await store.placements.commitFirstPlacement(
          { unitId, rowVersion: found?.unit.rowVersion ?? 0, instanceId: INSTANCE.id, ceiling, decision: aDecision(unitId) },
          signal,
        );
      }
      const comparedTo = {
        ...anEngineStatus().comparedTo,
        repoUrl: spec.source.repoUrl ?? REPOSITORY,
        path: spec.source.path,
        targetRevision: spec.source.targetRevision,
      };
      const said = anEngineStatus({ comparedTo, ...status });
      const epoch = (await store.placements.readUnit(unitId, signal))?.unit.epoch ?? 0;
      await store.statuses.recordStatuses(
        [{ applicationId: id, instanceId: INSTANCE.id, epoch, status: said, reconciledAt: undefined, hash: contentHash(said) }],
        signal,
      );
    },
    async assign(className) {
      const [workspace] = await store.intents.listKnownWorkspaces(CLUSTER, { limit: 1_000, after: "" }, signal);
      if (workspace === undefined) throw new Error("there is no workspace");
      const { workspaceId } = workspace;
      const assigned = { class: className, actor: "ada", reason: "asked for", at: millis(0) };
      const decision = { ...aDecision(workspaceId), kind: "directive", verdict: "ASSIGNED", rule: "COMMAND" } as const;
      await store.directives.direct({ workspaceId, change: { assigned }, decision }, signal);
    },
    async arrive(name, className) {
      const unitId = (await world.row(name))?.application.unitId;
      const unit = unitId && (await store.placements.readUnit(unitId, signal))?.unit;
      if (!unit) throw new Error(`no unit of ${name}`);
      const target = { ...INSTANCE, id: `instance of ${className}` as InstanceId, name: "standard-2", class: className };
      await store.fleet.insertInstance({ ...target, namespace: "argosy-standard-2" }, aDecision(target.id), signal);
      const id = `move of ${unit.id}` as MoveId;
      const asked = {
        kind: "voluntary",
        reason: "FORCED",
        plan: undefined,
        reverses: undefined,
        isFailOver: false,
        actor: "scheduler",
      } as const;
      const request = { ...asked, id, unitId: unit.id, to: target.id, epoch: unit.epoch, ceiling: POOL.capacity };
      await store.moves.request({ ...request, decision: aDecision(unit.id) }, signal);
      await store.moves.begin(id, signal);
      for (const [index, from] of UNTIL_COMMIT.entries()) {
        const to = UNTIL_COMMIT[index + 1];
        if (to !== undefined) await store.moves.advance(id, { from, to, message: "" }, signal);
      }
      if (!(await store.moves.commit(id, aDecision(unit.id), signal))) throw new Error(`${name} was not handed over`);
    },
    async finishDeletion(uid) {
      const row = await rowOf(uid);
      if (row !== undefined) await store.shards.forgetApplications([row.application.id], signal);
    },
    statusWrites: (name = "") =>
      server
        .requests()
        .filter(({ method, url }) => method === "PATCH" && url.includes(`/gitopsdeployments/${name}`) && url.includes("/status")).length,
    async close() {
      await Promise.all(controllers.map((controller) => controller.stop()));
      abort.abort(new Error("the world ends"));
      await server.close();
    },
  };
  await world.applyFleet();
  await world.namespace("jane");
  return world;
}

/** Waits for a level, with a deadline that only a broken test meets. */
export async function eventually(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 50_000;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`waited in vain until ${what}`);
    await setTimeout(2);
  }
}
