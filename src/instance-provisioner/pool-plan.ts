import type { FleetSpec, PoolSpec } from "../domain/fleet.ts";
import { classOf, entriesOf, releaseFor } from "../domain/fleet.ts";
import type { InstanceId } from "../domain/ids.ts";
import type { Entries, Instance, InstanceCause, InstanceState } from "../domain/instance.ts";
import { nextInstanceNames } from "../domain/instance-name.ts";
import { LOAD_DIMENSIONS, type LoadDimension, type LoadVector } from "../domain/load.ts";
import { capacityFor } from "../domain/raised-resources.ts";

export interface PoolFacts {
  readonly pool: PoolSpec;
  readonly fleet: FleetSpec;
  /** Every instance of all pools, retired ones too: names are never used twice. */
  readonly instances: readonly Instance[];
  readonly units: ReadonlyMap<InstanceId, number>;
}

/** An instance to be added, without the fields that are set when it is added. */
export type InstanceRequest = Omit<Instance, "id" | "stateSince" | "revision">;

/** An instance that is drained, cordoned or uncordoned, and why, for people. */
export interface Sent {
  readonly instance: Instance;
  readonly reason: string;
  readonly cause?: InstanceCause;
}

export interface PoolPlan {
  readonly request: readonly InstanceRequest[];
  /** Surplus without units: it is drained. */
  readonly drain: readonly Sent[];
  /** Surplus with units: it gets no new ones, and is drained once it has none. */
  readonly cordon: readonly Sent[];
  /** Whether an instance that is to leave still holds units. */
  readonly isWaiting: boolean;
  /** Instances that were to leave and are needed again. */
  readonly uncordon: readonly Sent[];
  readonly resize: readonly { readonly instance: Instance; readonly capacity: LoadVector; readonly weight: number }[];
}

const WAITING = "it takes no new units and is retired when it holds none";

const because = (reason: string) => ({ reason, waiting: `${reason}: ${WAITING}` });

/** Why a pool does not need an instance any more, and what the instance says while it still holds units. */
export const LEAVING = {
  surplus: because("its pool asks for fewer instances"),
  otherClass: because("its pool asks for instances of another class"),
  sharedEntry: because("its pool asks for instances with a cluster entry for each workspace"),
  ownEntries: because("its pool asks for instances whose workspaces share a cluster entry"),
  otherEntry: because("its pool asks for instances with a filtered cluster entry"),
  removed: because("its pool was removed from fleet.yaml"),
} as const;

/** Why instances leave that enter the API cluster in another way than this one, which their pool declares. */
const WHY_OTHERWISE: Readonly<Record<Entries, Omit<Leaving, "surplus">>> = {
  shared: LEAVING.ownEntries,
  filtered: LEAVING.otherEntry,
  "per-workspace": LEAVING.sharedEntry,
};

/**
 * Plans a pool's size. With fewer than `min` instances, more are requested. With more than `min`, empty ones are
 * drained. If there are still more than `max`, as many as are too many are cordoned, and drained once they are empty;
 * an instance with units is never drained. {@link chooseSurplus} says which ones. Draining instances do not count.
 * Failed ones do, because more of the same would fail the same way. Instances of another class than the pool's leave
 * like surplus, because no unit of its class may live there. So do those that enter the API cluster in another way than the
 * pool declares: an instance keeps its way for life.
 */
export function planPool(facts: PoolFacts): PoolPlan {
  const { pool, fleet, instances, units } = facts;
  const present = presentOf(pool.name, instances);
  const misplaced = present.filter((one) => one.class !== classOf(pool));
  const [current, otherwise] = partition(
    present.filter((one) => one.class === classOf(pool)),
    (one) => one.entries === entriesOf(pool),
  );
  const weight = weightOf(pool, fleet);
  const surplus = chooseSurplus(current, { ...pool.instances, units });
  return {
    request: planRequests(facts, current),
    ...planLeaving(present, [
      { surplus: chooseSurplus(misplaced, { min: 0, max: 0, units }), ...LEAVING.otherClass },
      {
        surplus: chooseSurplus(otherwise, { min: 0, max: 0, units }),
        ...WHY_OTHERWISE[entriesOf(pool)],
      },
      { surplus, ...LEAVING.surplus },
    ]),
    resize: current.flatMap((instance) => {
      const capacity = capacityFor(pool, instance.raised?.amounts);
      return isSameSize(instance, capacity, weight) ? [] : [{ instance, capacity, weight }];
    }),
  };
}

/** Plans the end of a pool that was removed on purpose: empty instances are drained, the others once they are empty. */
export function planPoolRemoval({ name, instances, units }: Pick<PoolFacts, "instances" | "units"> & { readonly name: string }): PoolPlan {
  const present = presentOf(name, instances);
  const surplus = chooseSurplus(present, { min: 0, max: 0, units });
  return { request: [], ...planLeaving(present, [{ surplus, ...LEAVING.removed }]), resize: [] };
}

interface Leaving {
  readonly surplus: Surplus;
  readonly reason: string;
  readonly waiting: string;
}

function planLeaving(
  present: readonly Instance[],
  leaving: readonly Leaving[],
): Pick<PoolPlan, "drain" | "cordon" | "isWaiting" | "uncordon"> {
  const going = new Set(leaving.flatMap(({ surplus }) => [...surplus.empty, ...surplus.held]));
  return {
    drain: leaving.flatMap(({ surplus, reason }) => surplus.empty.map((instance) => ({ instance, reason }))),
    cordon: leaving.flatMap(({ surplus, waiting }) =>
      surplus.held
        .filter(({ state }) => state === "ACTIVE")
        .map((instance) => ({ instance, reason: waiting, cause: { code: "POOL" } as const })),
    ),
    isWaiting: leaving.some(({ surplus }) => surplus.held.length > 0),
    uncordon: present
      .filter((instance) => isWaitingToLeave(instance) && !going.has(instance))
      .map((instance) => ({ instance, reason: "its pool asks for it again" })),
  };
}

/** Whether the pool has cordoned it. A pool calls off only its own cordons, not those of anybody else. */
function isWaitingToLeave({ state, cause }: Pick<Instance, "state" | "cause">): boolean {
  return state === "CORDONED" && cause?.code === "POOL";
}

/** The instances of a pool that are too many. */
interface Surplus {
  /** Those without units. */
  readonly empty: readonly Instance[];
  /** Those with units that are too many all the same. */
  readonly held: readonly Instance[];
}

interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly units: ReadonlyMap<InstanceId, number>;
}

/**
 * Chooses the surplus. The order of the instances does not matter.
 *
 * Of the empty ones, as many as there are beyond `min`: first failed ones, then unfinished, then cordoned, then
 * active ones; within these the newest (the highest number in its name) first. Of those with units, as many as are
 * then still beyond `max`: first cordoned ones, so that a choice once made stays, then those with the fewest units,
 * then the newest.
 */
function chooseSurplus(instances: readonly Instance[], { min, max, units }: Bounds): Surplus {
  const unitsOf = (one: Instance): number => units.get(one.id) ?? 0;
  const empty = instances
    .filter((one) => unitsOf(one) === 0)
    .toSorted((a, b) => USEFULNESS[a.state] - USEFULNESS[b.state] || newestFirst(a, b))
    .slice(0, Math.max(0, instances.length - min));
  const left = instances.length - empty.length;
  const held = instances
    .filter((one) => unitsOf(one) > 0)
    .toSorted((a, b) => USEFULNESS[a.state] - USEFULNESS[b.state] || unitsOf(a) - unitsOf(b) || newestFirst(a, b))
    .slice(0, Math.max(0, left - max));
  return { empty, held };
}

const USEFULNESS: Readonly<Record<InstanceState, number>> = {
  RETIRED: 0,
  DRAINING: 0,
  FAILED: 0,
  REQUESTED: 1,
  CREATING: 1,
  WARMING: 1,
  CORDONED: 2,
  ACTIVE: 3,
};

function newestFirst(a: Instance, b: Instance): number {
  return numberOf(b) - numberOf(a) || (a.id < b.id ? -1 : 1);
}

function numberOf(instance: Instance): number {
  return Number(/-(\d+)$/.exec(instance.name)?.[1] ?? 0);
}

function partition<T>(all: readonly T[], is: (one: T) => boolean): readonly [readonly T[], readonly T[]] {
  return [all.filter(is), all.filter((one) => !is(one))];
}

function presentOf(pool: string, instances: readonly Instance[]): readonly Instance[] {
  return instances.filter((one) => one.pool === pool && one.state !== "RETIRED" && one.state !== "DRAINING");
}

function planRequests({ pool, fleet, instances }: PoolFacts, current: readonly Instance[]): readonly InstanceRequest[] {
  const taken = new Set(instances.map((one) => one.name));
  const candidates: Pick<Instance, "engineCluster">[] = [...current];
  return nextInstanceNames(pool.name, taken, Math.max(0, pool.instances.min - current.length)).flatMap((name) => {
    const engineCluster = emptiestCluster(pool, candidates);
    if (engineCluster === undefined) return [];
    candidates.push({ engineCluster });
    return [requestOf({ pool, fleet }, { name, engineCluster })];
  });
}

function requestOf(
  { pool, fleet }: Pick<PoolFacts, "pool" | "fleet">,
  { name, engineCluster }: Pick<InstanceRequest, "name" | "engineCluster">,
): InstanceRequest {
  const version = releaseFor(pool, fleet.versions);
  return {
    name,
    engineCluster,
    namespace: `argosy-${name}`,
    pool: pool.name,
    class: classOf(pool),
    entries: entriesOf(pool),
    version,
    desiredVersion: version,
    state: "REQUESTED",
    reason: `pool ${pool.name} asks for ${pool.instances.min} ${pool.instances.min === 1 ? "instance" : "instances"}`,
    attempt: 0,
    capacity: pool.capacity,
    weight: weightOf(pool, fleet),
    appliedHash: "",
    cause: undefined,
    halt: "none",
    failsOver: false,
  };
}

/** The engine cluster with the fewest of the pool's instances; of equals the first one declared. */
function emptiestCluster(pool: PoolSpec, candidates: readonly Pick<Instance, "engineCluster">[]): string | undefined {
  const count = (name: string) => candidates.filter((candidate) => candidate.engineCluster === name).length;
  return pool.engineClusters.toSorted((a, b) => count(a) - count(b))[0];
}

/** Capacity relative to the smallest pool of the class, rounded down, so that an instance never attracts more than its share. */
export function weightOf(pool: PoolSpec, fleet: FleetSpec): number {
  const peers = fleet.pools.filter((one) => classOf(one) === classOf(pool));
  const ratio = (dimension: LoadDimension) =>
    pool.capacity[dimension] / Math.min(pool.capacity[dimension], ...peers.map((peer) => peer.capacity[dimension]));
  return Math.max(1, Math.floor(Math.min(...LOAD_DIMENSIONS.map(ratio))));
}

function isSameSize(instance: Instance, capacity: LoadVector, weight: number): boolean {
  return instance.weight === weight && LOAD_DIMENSIONS.every((dimension) => instance.capacity[dimension] === capacity[dimension]);
}
