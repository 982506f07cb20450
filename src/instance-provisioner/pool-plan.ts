import type { FleetSpec, PoolSpec } from "../domain/fleet.ts";
import { classOf } from "../domain/fleet.ts";
import type { InstanceId } from "../domain/ids.ts";
import type { Instance } from "../domain/instance.ts";
import type { LoadVector } from "../domain/load.ts";
import { LOAD_DIMENSIONS } from "../domain/load.ts";

export interface PoolFacts {
  readonly pool: PoolSpec;
  readonly fleet: FleetSpec;
  /** Every instance there is or was, of all pools: names are never used twice. */
  readonly instances: readonly Instance[];
  readonly units: ReadonlyMap<InstanceId, number>;
}

/** An instance to be added, without what only the moment of adding can give. */
export type InstanceRequest = Omit<Instance, "id" | "stateSince" | "revision">;

export interface PoolPlan {
  readonly request: readonly InstanceRequest[];
  /** Surplus instances that hold nothing. */
  readonly drain: readonly Instance[];
  /** Instances sent away as surplus that were given a unit before they left. */
  readonly keep: readonly Instance[];
  readonly resize: readonly { readonly instance: Instance; readonly capacity: LoadVector; readonly weight: number }[];
}

/** Reason of a drain that the pool's size asked for; only such a drain is called off when a unit was quicker. */
export const SURPLUS = "its pool asks for fewer instances";

/**
 * Plans a pool's size: at least `min` instances, and of those beyond `max` the empty ones away. Instances on their way out do
 * not count; failed ones do, because more of the same would fail the same way. Nothing that holds a unit is ever touched.
 */
export function planPool(facts: PoolFacts): PoolPlan {
  const { pool, fleet, instances, units } = facts;
  const present = instances.filter((one) => one.pool === pool.name && one.state !== "RETIRED" && one.state !== "DRAINING");
  const current = present.filter((one) => one.class === classOf(pool));
  // A pool that changed its class has instances that no unit of its class may live on.
  const misplaced = present.filter((one) => one.class !== classOf(pool));
  const weight = weightOf(pool, fleet);
  const isEmpty = (one: Instance): boolean => !holdsUnits(one, units);
  return {
    request: planRequests(facts, current),
    drain: [...misplaced.filter(isEmpty), ...surplus(pool, current, isEmpty)],
    keep: instances.filter((one) => one.pool === pool.name && one.state === "DRAINING" && one.reason === SURPLUS && holdsUnits(one, units)),
    resize: current.flatMap((instance) =>
      isSameSize(instance, pool.capacity, weight) ? [] : [{ instance, capacity: pool.capacity, weight }],
    ),
  };
}

function planRequests({ pool, fleet, instances }: PoolFacts, current: readonly Instance[]): readonly InstanceRequest[] {
  const taken = new Set(instances.map((one) => one.name));
  const seats = [...current];
  const requests: InstanceRequest[] = [];
  for (let number = 1; current.length + requests.length < pool.instances.min; number += 1) {
    const name = `${pool.name}-${number}`;
    const engineCluster = emptiestCluster(pool, seats);
    if (taken.has(name)) continue;
    if (engineCluster === undefined) break;
    const request = requestOf({ pool, fleet, name, engineCluster });
    requests.push(request);
    seats.push(request as Instance);
  }
  return requests;
}

function requestOf({
  pool,
  fleet,
  name,
  engineCluster,
}: {
  readonly pool: PoolSpec;
  readonly fleet: FleetSpec;
  readonly name: string;
  readonly engineCluster: string;
}): InstanceRequest {
  const version = pool.version ?? fleet.versions.default;
  return {
    ...{ name, engineCluster, namespace: `argosy-${name}`, pool: pool.name, class: classOf(pool) },
    ...{
      version,
      desiredVersion: version,
      state: "REQUESTED",
      reason: `pool ${pool.name} asks for ${pool.instances.min} instances`,
      attempt: 0,
    },
    ...{ capacity: pool.capacity, weight: weightOf(pool, fleet), appliedHash: "" },
  };
}

/** The engine cluster with the fewest of the pool's instances; of equals the one named first. */
function emptiestCluster(pool: PoolSpec, seats: readonly Pick<Instance, "engineCluster">[]): string | undefined {
  const count = (name: string) => seats.filter((seat) => seat.engineCluster === name).length;
  return pool.engineClusters.toSorted((a, b) => count(a) - count(b))[0];
}

/** Of the empty ones as many as there are beyond `max`, those that serve least first: failed, unfinished, then the highest numbers. */
function surplus(pool: PoolSpec, current: readonly Instance[], isEmpty: (one: Instance) => boolean): readonly Instance[] {
  const excess = Math.max(0, current.length - pool.instances.max);
  const usefulness = (one: Instance) => (one.state === "FAILED" ? 0 : one.state === "ACTIVE" || one.state === "CORDONED" ? 2 : 1);
  return current
    .filter(isEmpty)
    .toSorted((a, b) => usefulness(a) - usefulness(b) || numberOf(b) - numberOf(a) || (a.id < b.id ? -1 : 1))
    .slice(0, excess);
}

function numberOf(instance: Instance): number {
  return Number(/-(\d+)$/.exec(instance.name)?.[1] ?? 0);
}

function holdsUnits(instance: Instance, units: ReadonlyMap<InstanceId, number>): boolean {
  return (units.get(instance.id) ?? 0) > 0;
}

/** Capacity relative to the smallest pool of the class, rounded down: an instance never draws more than its share. */
export function weightOf(pool: PoolSpec, fleet: FleetSpec): number {
  const peers = fleet.pools.filter((one) => classOf(one) === classOf(pool));
  const ratio = (dimension: keyof LoadVector) =>
    pool.capacity[dimension] / Math.min(pool.capacity[dimension], ...peers.map((peer) => peer.capacity[dimension]));
  return Math.max(1, Math.floor(Math.min(...LOAD_DIMENSIONS.map(ratio))));
}

function isSameSize(instance: Instance, capacity: LoadVector, weight: number): boolean {
  return instance.weight === weight && LOAD_DIMENSIONS.every((dimension) => instance.capacity[dimension] === capacity[dimension]);
}
