import type { Change } from "../domain/change.ts";
import type { Clock } from "../domain/clock.ts";
import type { ApplicationId, InstanceId, UnitId } from "../domain/ids.ts";
import type { Partition } from "../domain/partition.ts";
import type { Rng } from "../domain/rng.ts";
import type { KeyedQueue, KeyedQueueOptions } from "../runtime/keyed-queue.ts";
import { createKeyedQueue } from "../runtime/keyed-queue.ts";
import type { Destination, OwnNamespaces } from "../shard/seat.ts";
import type { Store } from "../store/port.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { createApplicationController } from "./application/controller.ts";
import { createDeployerController } from "./deployer/controller.ts";
import { createEvents } from "./events/controller.ts";
import { createImpersonationController } from "./impersonation/controller.ts";
import { createInstanceController } from "./instance/controller.ts";
import { createIntake } from "./intake/controller.ts";
import { createCarrier } from "./object/controller.ts";
import type { ApiCluster, EngineShard, Engines } from "./port.ts";
import { createRows } from "./rows/controller.ts";
import { createHosts } from "./seats/controller.ts";
import { createStatusController } from "./status/controller.ts";
import { createSurvey } from "./survey/controller.ts";
import { createSweepController } from "./sweep/controller.ts";
import { createUnitController } from "./unit/controller.ts";

export interface ReconcilerDeps {
  readonly store: Pick<Store, "shards" | "statuses" | "fleet" | "changes">;
  readonly apiCluster: ApiCluster;
  readonly engines: Engines;
  /** By instance id. */
  readonly partition: Partition;
  readonly destination: Destination;
  readonly namespaces: OwnNamespaces;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Makes every instance of ours equal to its rows, and records what its applications say. */
export interface Reconciler {
  /** Returns at once; ends when `signal` aborts or `stop` is called. */
  start(signal: AbortSignal): void;
  /** Resolves when nothing is under way any more. */
  stop(): Promise<void>;
  /** What keeps it from its work, for people; empty when nothing does. A cluster that was seen once and is away does not count. */
  whyNotReady(): readonly string[];
  /** Resolves when nothing waits for its turn and nothing runs. */
  idle(): Promise<void>;
}

/** Rows that lag are looked for this often, so a lost hint costs no more. */
const SWEEP_EVERY_MS = 15_000;
/** Writes under way at once, as many as a cluster gets connections for: more would only stand in front of other workspaces. */
const WRITES_AT_ONCE = 32;
const FLEET_KEY = "fleet";
const DEPLOYER_KEY = "deployer";

export function createReconciler(deps: ReconcilerDeps): Reconciler {
  const { store, apiCluster, partition, clock, log } = deps;
  const { shards } = store;
  const abort = new AbortController();
  const ends: (() => void)[] = [];

  const rows = createRows(store);
  const hosts = createHosts({ fleet: store.fleet, engines: deps.engines, partition });
  const carrier = createCarrier(deps);
  const impersonation = createImpersonationController({ ...deps, shards });
  const watched = new Map<string, EngineShard>();
  const requestStatus = (key: string, unit?: UnitId): void => queues.statuses.add(key, groupOf(unit));
  const requestApplication = (id: ApplicationId, unit?: UnitId): void => queues.applications.add(id, groupOf(unit));
  const requestUnit = (id: UnitId): void => queues.units.add(id);
  const requestInstance = (id: InstanceId): void => queues.instances.add(id);
  const events = createEvents({ requests: { application: requestApplication, unit: requestUnit, instance: requestInstance, status: requestStatus }, partition });

  const applications = createApplicationController({ ...deps, rows, hosts, carrier, requestUnit });
  const intake = createIntake({ rows, applications, request: requestApplication, signal: abort.signal });
  const sweep = createSweepController({ ...deps, shards, carrier, requestApplications: intake.take, requestUnits: (ids) => ids.forEach(requestUnit) });
  const onStanding = (id: UnitId, revision: number): void => applications.release(id, revision).forEach((application) => requestApplication(application, id));
  const units = createUnitController({ ...deps, shards, rows, hosts, carrier, impersonation, requestInstance, onStanding });
  const instances = createInstanceController({ ...deps, hosts, carrier, impersonation, sweep });
  const statuses = createStatusController({ rows, partition, engines: watched });
  const deployer = createDeployerController({ deployer: apiCluster.deployer, log });
  const survey = createSurvey({ ...deps, hosts, events, watched, requestInstance, requestStatus, onListed: () => resync(), signal: abort.signal });

  const queue = (name: string, concurrency: number, work: KeyedQueueOptions["work"]): KeyedQueue => createKeyedQueue({ ...deps, name, concurrency, work, rng: deps.rng.fork(name) });
  const queues = {
    applications: queue("applications", WRITES_AT_ONCE, (id, signal) => applications.reconcile(id as ApplicationId, signal)),
    units: queue("units", WRITES_AT_ONCE / 2, (id, signal) => units.reconcile(id as UnitId, signal)),
    instances: queue("instances", 4, (key, signal) => (key === FLEET_KEY ? survey.survey(signal) : key === DEPLOYER_KEY ? deployer.reconcile(signal) : instances.reconcile(key as InstanceId, signal))),
    // Its runs only wait for one common statement.
    statuses: queue("statuses", 1000, (key, signal) => statuses.reconcile(key, signal)),
  };
  const everyQueue = Object.values(queues);

  const resync = (): void => {
    sweep.distrust();
    queues.instances.add(FLEET_KEY);
  };
  const onHints = (hints: readonly Change[] | "missed"): void => {
    if (hints === "missed") return resync();
    intake.take(hints.filter((hint) => hint.kind === "application").map((hint) => hint.id as ApplicationId));
    for (const hint of hints) if (hint.kind === "unit") requestUnit(hint.id as UnitId);
    if (hints.some((hint) => hint.kind === "instance")) queues.instances.add(FLEET_KEY);
  };
  const onNewShare = (): void => {
    resync();
    survey.recheckStatuses();
  };
  const tick = (): void => {
    queues.instances.add(FLEET_KEY);
    cancelTick = clock.after(SWEEP_EVERY_MS, tick);
  };
  let cancelTick = (): void => undefined;
  const stop = async (): Promise<void> => {
    abort.abort(new Error("the reconciler stops"));
    cancelTick();
    survey.end();
    for (const end of ends.splice(0)) end();
    await Promise.all(everyQueue.map((each) => each.stop()));
  };

  return {
    start(signal) {
      signal.addEventListener("abort", () => void stop(), { once: true });
      ends.push(store.changes.subscribe(onHints), partition.onChange(onNewShare), events.followApiCluster(apiCluster));
      void apiCluster.synced(abort.signal).then(resync, () => undefined);
      for (const each of everyQueue) each.start();
      queues.instances.add(DEPLOYER_KEY);
      tick();
    },
    stop,
    whyNotReady: () => (apiCluster.isSynced() ? [] : [`the objects of cluster ${apiCluster.cluster} are not listed yet`]),
    idle: async () => void (await Promise.all(everyQueue.map((each) => each.idle()))),
  };
}

function groupOf(unit: UnitId | undefined): { readonly group?: string } {
  return unit === undefined ? {} : { group: unit };
}
