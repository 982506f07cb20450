import type { Clock } from "../domain/clock.ts";
import type { Partition } from "../domain/partition.ts";
import type { Rng } from "../domain/rng.ts";
import type { Destination, OwnNamespaces } from "../shard/seat.ts";
import type { Store } from "../store/port.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { createApplicationController } from "./application/controller.ts";
import { createBlockageWatch } from "./blockage/controller.ts";
import { createDeployerController } from "./deployer/controller.ts";
import { createEnvironmentEntries } from "./environments/controller.ts";
import { createEvents } from "./events/controller.ts";
import { createGrounds } from "./grounds/controller.ts";
import { createImpersonationController } from "./impersonation/controller.ts";
import { createInstanceController } from "./instance/controller.ts";
import { createIntake } from "./intake/controller.ts";
import { createLeftoverSweep } from "./leftovers/controller.ts";
import { createNudges } from "./nudges/controller.ts";
import { createCarrier } from "./object/controller.ts";
import { createPacing } from "./pacing/controller.ts";
import type { ApiCluster, EngineShard, Engines, Grounds } from "./port.ts";
import { createProgress } from "./progress/controller.ts";
import { createQueues } from "./queues/controller.ts";
import { createRegisterKeeper } from "./register/controller.ts";
import { createRepositoriesController } from "./repositories/controller.ts";
import { createRows } from "./rows/controller.ts";
import { createHosts } from "./seats/controller.ts";
import { createStatusController } from "./status/controller.ts";
import { createStrayKeeper } from "./strays/controller.ts";
import { createSurvey } from "./survey/controller.ts";
import { createSweepController } from "./sweep/controller.ts";
import { createSyncController } from "./sync/controller.ts";
import { createTriggers } from "./triggers/controller.ts";
import { createUnitController, type UnitControllerDeps } from "./unit/controller.ts";

export interface ReconcilerDeps {
  readonly store: Pick<Store, "shards" | "statuses" | "syncRuns" | "fleet" | "credentials" | "decisions" | "changes">;
  readonly apiCluster: ApiCluster;
  readonly engines: Engines;
  /** By instance id. */
  readonly partition: Partition;
  readonly destination: Destination;
  readonly namespaces: OwnNamespaces;
  readonly blockedAfterMs?: number;
  /** Applications of one unit that an instance is given work with at once, at most; 0: all. */
  readonly unfinishedPerUnit: number;
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
  /** What live moves need of an instance. */
  readonly grounds: Grounds;
  /** Resolves when nothing waits for its turn and nothing runs. */
  idle(): Promise<void>;
}

export function createReconciler(deps: ReconcilerDeps): Reconciler {
  const { store, apiCluster, partition } = deps;
  const abort = new AbortController();

  // The works are looked up when keys run, so queues and controllers may know each other.
  const queues = createQueues({
    ...deps,
    works: {
      application: (id, signal) => pacing.during("application", id, applications.reconcile(id, signal)),
      unit: (id, signal) => units.reconcile(id, signal),
      sync: (id, signal) => pacing.during("sync", id, syncs.reconcile(id, signal)),
      instance: (id, signal) => instances.reconcile(id, signal),
      status: (key, signal) => statuses.reconcile(key, signal),
      fleet: (signal) => survey.survey(signal),
      deployer: (signal) => deployer.reconcile(signal),
    },
  });
  const { requestApplication, requestUnit, requestInstance, requestStatus, requestSync } = queues;
  const hosts = createHosts({ fleet: store.fleet, engines: deps.engines, partition });
  const pacing = createPacing({ ...deps, requests: queues });
  const base = { ...deps, ...store, pacing, rows: createRows(store), hosts, carrier: createCarrier(deps), requestUnit, requestInstance };
  const progress = createProgress({ ...base, blockages: createBlockageWatch({ ...deps, held: apiCluster.held }) });
  const repositories = createRepositoriesController(base);
  const register = createRegisterKeeper(base);
  const impersonation = createImpersonationController(base);
  const parts = { ...base, progress, repositories, register, impersonation, entries: createEnvironmentEntries(base) };
  const watched = new Map<string, EngineShard>();
  const events = createEvents({ requests: queues, partition });
  const applications = createApplicationController({ ...parts, onApplied: requestSync });
  const intake = createIntake({ ...parts, applications, request: requestApplication, signal: abort.signal });
  const strays = createStrayKeeper({ ...base, intake });
  const sweep = createSweepController({ ...parts, queues, intake, strays, leftovers: createLeftoverSweep(base) });
  const onStanding: UnitControllerDeps["onStanding"] = (id, ...standing) =>
    applications.release(id, ...standing).forEach((application) => requestApplication(application, id));
  const units = createUnitController({ ...parts, onStanding });
  const instances = createInstanceController({ ...parts, sweep });
  const statuses = createStatusController({ ...parts, engines: watched });
  const syncs = createSyncController(parts);
  const deployer = createDeployerController({ ...deps, fleet: store.fleet, deployer: apiCluster.deployer });
  const survey = createSurvey({ ...deps, hosts, events, watched, sweep, requestInstance, requestStatus, signal: abort.signal });
  const nudges = createNudges({ ...deps, watched });
  const triggers = createTriggers({ ...parts, intake, queues, sweep, survey });
  let unfollow = (): void => undefined;
  const stop = async (): Promise<void> => {
    abort.abort(new Error("the reconciler stops"));
    for (const end of [triggers.stop, survey.end, pacing.stop, unfollow]) end();
    await Promise.all([queues.stop(), register.stop(), nudges.stop()]);
  };

  return {
    start(signal) {
      signal.addEventListener("abort", () => void stop(), { once: true });
      unfollow = events.followApiCluster(apiCluster);
      [queues, register, nudges].forEach((each) => each.start());
      queues.requestDeployer();
      triggers.start();
    },
    stop,
    whyNotReady: () => (apiCluster.isSynced() ? [] : [`the objects of cluster ${apiCluster.cluster} are not listed yet`]),
    grounds: createGrounds(parts),
    idle: queues.idle,
  };
}
