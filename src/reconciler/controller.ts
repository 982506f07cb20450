import type { TokenLife } from "../domain/account-token.ts";
import type { Change } from "../domain/change.ts";
import type { Clock } from "../domain/clock.ts";
import type { ApplicationId, InstanceId, UnitId } from "../domain/ids.ts";
import type { Partition, ShareChange } from "../domain/partition.ts";
import type { Rng } from "../domain/rng.ts";
import { createGatheringQueue, type GatheringQueue, type KeyedWork } from "../runtime/keyed-queue.ts";
import type { Destination, OwnNamespaces } from "../shard/application-placement.ts";
import type { Store } from "../store/port.ts";
import type { DesiredApplication } from "../store/shard/port.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { createApplicationRows } from "./applications/application-rows.ts";
import { createApplyApplication } from "./applications/apply-application.ts";
import { createPacing } from "./applications/pace-applications.ts";
import { createIntake, createWaitForPrerequisites } from "./applications/read-applications.ts";
import { createRequestSyncs } from "./applications/request-syncs.ts";
import { createObjectWriter } from "./apply-object.ts";
import { COMPARE_EVERY_MS, createAskArgoCdAgain } from "./ask-argo-cd-again.ts";
import { createHosts } from "./find-hosts.ts";
import { createApplyInstance } from "./instances/apply-instance.ts";
import { keepDeployerRole } from "./instances/keep-deployer-role.ts";
import { createEntryTokens } from "./instances/keep-entry-token.ts";
import { createReaderKinds } from "./instances/keep-reader-role.ts";
import { createLeftovers, createOrphans } from "./instances/remove-orphans.ts";
import { createSweep } from "./instances/sweep-instance.ts";
import type { Requests } from "./keys.ts";
import type { ApiCluster, Engines, UnitPrerequisites } from "./port.ts";
import { createRows } from "./read-and-record-rows.ts";
import { createRecordStatus } from "./record-statuses.ts";
import { createProgress } from "./report-progress.ts";
import { createClusterEntries } from "./units/apply-cluster-entries.ts";
import { createApplyOwnerBinding } from "./units/apply-owner-binding.ts";
import { createPrerequisites } from "./units/apply-prerequisites.ts";
import { createRepositorySecrets } from "./units/apply-repository-secrets.ts";
import { createApplyUnit } from "./units/apply-unit.ts";
import { createApplyUnitForMove } from "./units/apply-unit-for-move.ts";
import { createWorkspaceEntries } from "./units/apply-workspace-entry.ts";
import { createImpersonation } from "./units/grant-impersonation.ts";
import { createRepairReports } from "./units/report-repairs.ts";
import { createStandingEnvironments } from "./units/standing-environments.ts";
import { createShardWatch, followApiCluster } from "./watch-shards.ts";

export interface ReconcilerDeps {
  readonly store: Pick<Store, "shards" | "statuses" | "syncRuns" | "fleet" | "credentials" | "decisions" | "changes">;
  readonly apiCluster: ApiCluster;
  readonly engines: Engines;
  /** By instance id. */
  readonly partition: Partition;
  readonly destination: Destination;
  readonly namespaces: OwnNamespaces;
  /** Of the tokens by which instances enter the API cluster. */
  readonly tokenLife: TokenLife;
  readonly blockedAfterMs?: number;
  /** How long what an instance of an earlier version read by stays beside what replaces it, in ms; default a minute. */
  readonly formerStaysMs?: number;
  /** How many applications of one unit an instance is given work with at once; 0: all. */
  readonly unfinishedPerUnit: number;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** API servers and instances learn of a role, a binding or an entry by watches of their own, which may lag on machines that are full. */
const FORMER_STAYS_MS = 60_000;

/** Makes every instance of ours equal to its rows, and records what its applications say. */
export interface Reconciler {
  /** Returns at once; ends when `signal` aborts or `stop` is called. */
  start(signal: AbortSignal): void;
  /** Resolves when nothing is under way any more. */
  stop(): Promise<void>;
  /** What keeps it from working, for people; empty when nothing does. A cluster that was reached before and is away now does not count. */
  whyNotReady(): readonly string[];
  /** What live moves need of an instance. */
  readonly unitPrerequisites: UnitPrerequisites;
  /** Resolves when nothing waits for its turn and nothing runs. */
  idle(): Promise<void>;
}

/** Writes under way at once. More would not be faster: the server's processors are the limit. */
const WRITES_AT_ONCE = 12;
/**
 * How many of them one unit may use while others are served. Writes under way delay those of the others, and a burst can use all of them
 * when it is alone. Beside a burst of thousands on two cores one creation took 148 ms where the burst had four writes, 82 ms where it had one.
 */
const BESIDE_OTHERS = 1;
/** Runs of the status queue only wait for one common statement, so this bounds the size of that statement. */
const STATUSES_AT_ONCE = 1000;
const STATUSES_BESIDE_OTHERS = 300;
const INSTANCES_AT_ONCE = 4;
/** Keys of the instances' queue that are no instances. */
const FLEET_KEY = "fleet";
const DEPLOYER_KEY = "deployer";
/** The one key of the queue that asks Argo CD again. */
const COMPARE_KEY = "compare";
/** How often rows that lag are swept up, in ms: a lost notification costs no more. */
const SWEEP_EVERY_MS = 15_000;

/**
 * Creates the reconciler: seven queues, what puts keys into them, and the step that works on the keys of each. The queues are created
 * first, because steps put keys into them too; they are started with the steps as their work.
 */
export function createReconciler(deps: ReconcilerDeps): Reconciler {
  const { store, apiCluster, partition, clock } = deps;
  const abort = new AbortController();
  const queues = createQueues(deps);
  const requests = requestsOf(queues);
  const { works, takeIn, sweep, shardWatch, recordStatus, pacing, unitPrerequisites } = createSteps(deps, requests, abort.signal);

  /** Compares everything of ours, thoroughly. */
  const resync = (): void => {
    sweep.distrust(() => true);
    requests.requestFleet();
  };
  const onChanges = (changes: readonly Change[] | "missed"): void => {
    if (changes === "missed") return resync();
    takeIn(changes.filter((change) => change.kind === "application").map((change) => change.id as ApplicationId));
    for (const { kind, id } of changes) {
      if (kind === "unit") requests.requestUnit(id as UnitId);
      if (kind === "sync-queue") requests.requestSync(id as ApplicationId);
    }
    if (changes.some((change) => change.kind === "instance")) requests.requestFleet();
  };
  /** Compares what was gained, thoroughly: another process may have changed it, and this one was not notified. What was lost is that one's work. */
  const onNewShare = (change: ShareChange): void => {
    recordStatus.forgetOthers(change);
    if (!change.mayGain) return;
    sweep.distrust(change.gained);
    shardWatch.recheckStatuses(change.gained);
    requests.requestFleet();
  };
  let cancelTick = (): void => undefined;
  const tick = (): void => {
    requests.requestFleet();
    cancelTick = clock.after(SWEEP_EVERY_MS, tick);
  };

  const ends: (() => void)[] = [];
  const stop = async (): Promise<void> => {
    abort.abort(new Error("the reconciler stops"));
    cancelTick();
    for (const end of [...ends.splice(0), shardWatch.stop, pacing.stop]) end();
    await Promise.all(Object.values(queues).map((queue) => queue.stop()));
  };

  return {
    start(signal) {
      signal.addEventListener("abort", () => void stop(), { once: true });
      ends.push(followApiCluster({ requests, partition }, apiCluster));
      queues.nudges.add(COMPARE_KEY, { afterMs: COMPARE_EVERY_MS });
      for (const name of Object.keys(queues) as (keyof Queues)[]) queues[name].start(works[name]);
      queues.instances.add(DEPLOYER_KEY);
      ends.push(store.changes.subscribe(onChanges), partition.onChange(onNewShare));
      tick();
    },
    stop,
    whyNotReady: () => (apiCluster.isSynced() ? [] : [`the objects of cluster ${apiCluster.cluster} are not listed yet`]),
    unitPrerequisites,
    async idle() {
      const { applications, units, syncs, instances, statuses } = queues;
      await Promise.all([applications, units, syncs, instances, statuses].map((queue) => queue.idle()));
    },
  };
}

/** Creates the steps in the order in which they need each other. `stopping`: aborts when the reconciler stops. */
function createSteps(deps: ReconcilerDeps, requests: Requests, stopping: AbortSignal) {
  const { store, apiCluster, clock } = deps;
  const hosts = createHosts({ ...deps, fleet: store.fleet });
  const pacing = createPacing({ ...deps, requests });
  const rows = createRows(store);
  const applicationRows = createApplicationRows<DesiredApplication>(clock);
  const standingEnvironments = createStandingEnvironments();
  const tools = { pacing, rows, applicationRows, standingEnvironments, writer: createObjectWriter(deps) };
  const formerStaysMs = deps.formerStaysMs ?? FORMER_STAYS_MS;
  const base = { ...deps, ...store, formerStaysMs, signal: stopping, requests, hosts, ...tools };

  const progress = createProgress({ ...base, held: apiCluster.held });
  const repositorySecrets = createRepositorySecrets(base);
  const repairs = createRepairReports(base);
  const applyOwnerBinding = createApplyOwnerBinding({ ...base, repairs });
  const impersonation = createImpersonation(base);
  const clusterEntries = createClusterEntries(base);
  const readerKinds = createReaderKinds({ ...base, reader: apiCluster.reader });
  const entryTokens = createEntryTokens({ ...base, readerKinds });
  const workspaceEntries = createWorkspaceEntries({ ...base, entryTokens });
  const parts = {
    ...base,
    entryTokens,
    workspaceEntries,
    progress,
    repositorySecrets,
    repairs,
    applyOwnerBinding,
    impersonation,
    clusterEntries,
  };
  const prerequisites = createPrerequisites(parts);

  const waitForPrerequisites = createWaitForPrerequisites({ ...base, progress });
  const takeIn = createIntake({ ...base, waitForPrerequisites });
  const orphans = createOrphans({ ...base, takeIn });
  const sweep = createSweep({ ...parts, takeIn, orphans, leftovers: createLeftovers(base) });
  const shardWatch = createShardWatch({ ...base, sweep });
  const { watched } = shardWatch;

  const applyApplication = createApplyApplication({ ...parts, waitForPrerequisites });
  const applyUnit = createApplyUnit({ ...parts, prerequisites });
  const requestSyncs = createRequestSyncs(base);
  const applyInstance = createApplyInstance({ ...parts, sweep, readerKinds });
  const recordStatus = createRecordStatus({ ...base, watched });
  const askArgoCdAgain = createAskArgoCdAgain({ ...base, watched });

  const works: Readonly<Record<keyof Queues, KeyedWork>> = {
    applications(key, signal) {
      const id = key as ApplicationId;
      return pacing.during("application", id, applyApplication(id, signal));
    },
    units: (key, signal) => applyUnit(key as UnitId, signal),
    syncs(key, signal) {
      const id = key as ApplicationId;
      return pacing.during("sync", id, requestSyncs(id, signal));
    },
    instances(key, signal) {
      if (key === FLEET_KEY) return shardWatch.observeFleet(signal);
      if (key === DEPLOYER_KEY) return keepDeployerRole({ ...base, readerKinds, deployer: apiCluster.deployer }, signal);
      return applyInstance(key as InstanceId, signal);
    },
    statuses: recordStatus.record,
    repairs: (key, signal) => repairs.write(key as UnitId, signal),
    nudges: (_key, signal) => askArgoCdAgain(signal),
  };
  return {
    works,
    takeIn,
    sweep,
    shardWatch,
    recordStatus,
    pacing,
    unitPrerequisites: createApplyUnitForMove({ ...parts, prerequisites }),
  };
}

type Queues = ReturnType<typeof createQueues>;

/** One queue per kind of key; all but those of instances and repairs take turns by unit. */
export function createQueues(deps: Pick<ReconcilerDeps, "clock" | "rng" | "log" | "metrics">) {
  const queue = (name: string, concurrency: number, besideOthers = BESIDE_OTHERS): GatheringQueue =>
    createGatheringQueue({ ...deps, name, concurrency, besideOthers, rng: deps.rng.fork(name) });
  return {
    /** Ids of applications: `apply-application.ts`. */
    applications: queue("applications", WRITES_AT_ONCE),
    /** Ids of units: `apply-unit.ts`. */
    units: queue("units", WRITES_AT_ONCE / 2),
    /** Ids of applications whose syncs users ask for: `request-syncs.ts`. */
    syncs: queue("syncs", WRITES_AT_ONCE),
    /** Ids of instances, the fleet's key and the roles': `apply-instance.ts`, `watch-shards.ts`, `keep-deployer-role.ts`. */
    instances: queue("instances", INSTANCES_AT_ONCE),
    /** Keys of Applications as watches show them, see `statusKey`: `record-statuses.ts`. */
    statuses: queue("statuses", STATUSES_AT_ONCE, STATUSES_BESIDE_OTHERS),
    /** Ids of units whose owner binding somebody else changed: `report-repairs.ts`. */
    repairs: queue("repairs", 1),
    /** One key: `ask-argo-cd-again.ts`. */
    nudges: queue("nudges", 1),
  };
}

export function requestsOf({ applications, units, syncs, instances, statuses, repairs }: Queues): Requests {
  return {
    requestApplication: (id, unit, afterMs = 0) => applications.add(id, { ...groupOf(unit), afterMs }),
    requestUnit: (id) => units.add(id, { group: id }),
    reviewUnit: (id, afterMs) => units.add(id, { group: id, afterMs, isBackground: true }),
    requestSync: (id, unit) => syncs.add(id, groupOf(unit)),
    requestInstance: (id) => instances.add(id),
    requestStatus: (key, unit) => statuses.add(key, groupOf(unit)),
    reviewStatus: (key, unit) => statuses.add(key, { ...groupOf(unit), isBackground: true }),
    requestFleet: () => instances.add(FLEET_KEY),
    requestRepairReport: (id) => repairs.add(id),
  };
}

function groupOf(unit: UnitId | undefined): { readonly group?: string } {
  return unit === undefined ? {} : { group: unit };
}
