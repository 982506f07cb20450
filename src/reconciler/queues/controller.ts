import type { Clock } from "../../domain/clock.ts";
import type { ApplicationId, InstanceId, UnitId } from "../../domain/ids.ts";
import type { Rng } from "../../domain/rng.ts";
import type { KeyedQueue, WorkResult } from "../../runtime/keyed-queue.ts";
import { createKeyedQueue } from "../../runtime/keyed-queue.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";

type Work<Key extends string> = (key: Key, signal: AbortSignal) => Promise<WorkResult | void>;

interface Works {
  readonly application: Work<ApplicationId>;
  readonly unit: Work<UnitId>;
  /** The runs of an application's syncs. */
  readonly sync: Work<ApplicationId>;
  readonly instance: Work<InstanceId>;
  readonly status: Work<string>;
  /** Looks which instances are ours. */
  readonly fleet: (signal: AbortSignal) => Promise<WorkResult | void>;
  readonly deployer: (signal: AbortSignal) => Promise<WorkResult | void>;
}

export interface Queues {
  requestApplication(id: ApplicationId, unit?: UnitId): void;
  requestUnit(id: UnitId): void;
  /** Asks for a look at a unit of which nothing is known to be wrong; whoever asks for it meanwhile does not wait for that. */
  reviewUnit(id: UnitId, afterMs: number): void;
  requestSync(id: ApplicationId, unit?: UnitId): void;
  requestInstance(id: InstanceId): void;
  requestStatus(key: string, unit?: UnitId): void;
  requestFleet(): void;
  requestDeployer(): void;
  start(): void;
  stop(): Promise<void>;
  idle(): Promise<void>;
}

export interface QueuesDeps {
  readonly works: Works;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Writes under way at once. A server is as fast with these as with more: it is its processors that are busy. */
const WRITES_AT_ONCE = 12;
/**
 * How many of them one unit may use while others are served: what is under way stands in front of the others' writes, and a burst has the
 * whole rest of the time for itself. Beside a flood of thousands on two cores one creation took 148 ms where the flood had four, 82 ms where it had one.
 */
const BESIDE_OTHERS = 1;
/** Runs of the status queue only wait for one common statement, so this bounds the size of that statement. */
const STATUSES_AT_ONCE = 1000;
const STATUSES_BESIDE_OTHERS = 300;
const INSTANCES_AT_ONCE = 4;
const FLEET_KEY = "fleet";
const DEPLOYER_KEY = "deployer";

/** One queue per kind of key; applications and statuses take turns by unit. */
export function createQueues(deps: QueuesDeps): Queues {
  const { works } = deps;
  const queue = <Key extends string>(name: string, concurrency: number, work: Work<Key>, besideOthers = BESIDE_OTHERS): KeyedQueue =>
    createKeyedQueue({
      ...{ ...deps, name, concurrency, besideOthers },
      work: (key, signal) => work(key as Key, signal),
      rng: deps.rng.fork(name),
    });
  const applications = queue("applications", WRITES_AT_ONCE, works.application);
  const units = queue("units", WRITES_AT_ONCE / 2, works.unit);
  const syncs = queue("syncs", WRITES_AT_ONCE, works.sync);
  const instances = queue<InstanceId>("instances", INSTANCES_AT_ONCE, (key, signal) => {
    if (key === FLEET_KEY) return works.fleet(signal);
    return key === DEPLOYER_KEY ? works.deployer(signal) : works.instance(key, signal);
  });
  const statuses = queue("statuses", STATUSES_AT_ONCE, works.status, STATUSES_BESIDE_OTHERS);
  const all = [applications, units, syncs, instances, statuses];
  return {
    requestApplication: (id, unit) => applications.add(id, groupOf(unit)),
    requestUnit: (id) => units.add(id),
    reviewUnit: (id, afterMs) => units.add(id, { afterMs }),
    requestSync: (id, unit) => syncs.add(id, groupOf(unit)),
    requestInstance: (id) => instances.add(id),
    requestStatus: (key, unit) => statuses.add(key, groupOf(unit)),
    requestFleet: () => instances.add(FLEET_KEY),
    requestDeployer: () => instances.add(DEPLOYER_KEY),
    start: () => all.forEach((each) => each.start()),
    stop: async () => void (await Promise.all(all.map((each) => each.stop()))),
    idle: async () => void (await Promise.all(all.map((each) => each.idle()))),
  };
}

function groupOf(unit: UnitId | undefined): { readonly group?: string } {
  return unit === undefined ? {} : { group: unit };
}
