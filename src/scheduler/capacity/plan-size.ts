import { PLANNED_AHEAD, type PoolSize } from "../../domain/capacity.ts";
import type { Millis } from "../../domain/clock.ts";
import type { InstanceId } from "../../domain/ids.ts";
import type { InstanceState } from "../../domain/instance.ts";
import { LOAD_DIMENSIONS, type LoadDimension, type LoadVector, loadVector, ZERO_LOAD } from "../../domain/load.ts";
import { WHOLE } from "../policy.ts";
import { shareOf } from "../utilisation.ts";

/** A pool whose size is not declared. */
export interface ScaledPool {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly capacity: LoadVector;
  /** How many its declared peaks ask for that hold within a day, and within two; absent: none does. */
  readonly peak?: { readonly soon: number; readonly later: number };
}

export interface SizedInstance {
  readonly id: InstanceId;
  readonly name: string;
  readonly pool: string;
  readonly state: InstanceState;
  readonly capacity: LoadVector;
  /** Of what it carries in its fullest dimension, ppm. */
  readonly share: number;
}

export interface SizeFacts {
  /** In the order of the declaration. */
  readonly pools: readonly ScaledPool[];
  /** All of the class that are not retired. */
  readonly instances: readonly SizedInstance[];
  /** By pool. */
  readonly sizes: Readonly<Record<string, PoolSize>>;
  /** The most that the class is expected to take within a day, and within two. */
  readonly soon: LoadVector;
  readonly later: LoadVector;
  /** Since when one instance fewer would do; absent: it would not. */
  readonly spareSince: Millis | undefined;
  /** Whether anything is frozen, or a release is being rolled out: then nothing is emptied. */
  readonly isFrozen: boolean;
  /** How long one fewer has to do, and how long after the last change nothing is emptied, in ms. */
  readonly spareMs: number;
  readonly restMs: number;
  readonly at: Millis;
}

export type SizePlan =
  /** `why`: what keeps it from changing, where something does. */
  | {
      readonly kind: "keep";
      readonly why?: "CEILING" | "FAILING" | undefined;
      readonly spareSince: Millis | undefined;
      readonly evidence: SizeEvidence;
    }
  /** `isForPeak`: a declared peak asks for it, whatever the load is. */
  | {
      readonly kind: "grow";
      readonly pool: string;
      readonly before: number;
      readonly after: number;
      readonly isForPeak: boolean;
      readonly evidence: SizeEvidence;
    }
  | {
      readonly kind: "shrink";
      readonly pool: string;
      readonly before: number;
      readonly after: number;
      readonly instance: InstanceId;
      readonly evidence: SizeEvidence;
    };

/** What a change of size rests on. */
export interface SizeEvidence {
  /** The fullest dimension, and its share of the capacity that there is, ppm: expected within a day, and within two. */
  readonly dimension: LoadDimension;
  readonly soon: number;
  readonly later: number;
  /** The same if the largest instance were gone. */
  readonly withoutOne: number;
}

/**
 * How full a class may be, ppm of the capacity of its instances in the fullest dimension, with all of them and without the largest. Between growing and
 * shrinking lies more than one instance of ten takes, so that what one change does is no reason for the other.
 */
export const SIZING = {
  grow: { all: 750_000, withoutOne: 900_000 },
  shrink: { all: 650_000, withoutOne: 800_000 },
  ...PLANNED_AHEAD,
} as const;

/**
 * How many instances the pools of a class should have. Changes one pool at a time, and never beyond its bounds. An instance that failed carries nothing
 * but counts as one of its pool's, as it does for the provisioner, and its pool gets no more: more of the same would fail the same way. One that leaves
 * does neither. What a declared peak asks for is there before it begins, and is not given up before it has ended.
 */
export function planSize(facts: SizeFacts): SizePlan {
  const present = facts.instances.filter(({ state }) => state !== "DRAINING");
  const counted = present.filter(({ state }) => state !== "FAILED");
  const evidence = evidenceOf(counted, facts);
  const needed = isBeyond(counted, facts.soon, SIZING.grow) ? grow(facts, { present, counted }, evidence) : undefined;
  const peak = growForPeak(facts, present, evidence);
  if (needed?.kind === "grow") return needed.pool === peak?.pool && peak.after > needed.after ? peak : needed;
  if (peak !== undefined) return peak;
  if (needed !== undefined) return needed;
  const shrunk = emptiest(facts, { present, counted });
  if (shrunk === undefined) return { kind: "keep", spareSince: undefined, evidence };
  const spareSince = facts.spareSince ?? facts.at;
  const changedAt = Math.max(0, ...Object.values(facts.sizes).map(({ at }) => at));
  const isDue = facts.at - spareSince >= facts.spareMs && facts.at - changedAt >= facts.restMs;
  const isQuiet = !facts.isFrozen && facts.instances.every(({ state }) => state === "ACTIVE" || state === "CORDONED" || state === "FAILED");
  if (!isDue || !isQuiet) return { kind: "keep", spareSince, evidence };
  const before = countOf(present, shrunk.pool);
  return { kind: "shrink", pool: shrunk.pool, before, after: before - 1, instance: shrunk.id, evidence };
}

/** Instances that are there, and those of them that carry their share or soon will. */
interface Fleet {
  readonly present: readonly SizedInstance[];
  readonly counted: readonly SizedInstance[];
}

function isBeyond(
  instances: readonly Pick<SizedInstance, "capacity">[],
  load: LoadVector,
  { all, withoutOne }: { readonly all: number; readonly withoutOne: number },
): boolean {
  return fullest(load, capacityOf(instances)).share > all || fullest(load, withoutLargest(instances)).share > withoutOne;
}

/** As many more of the first pool that may have more as are needed, at once: one after the other would come too late for a launch. */
function grow({ pools, soon }: SizeFacts, { present, counted }: Fleet, evidence: SizeEvidence): SizePlan {
  const below = pools.filter(({ name, max }) => countOf(present, name) < max);
  const pool = below.find(({ name }) => present.every((one) => one.pool !== name || one.state !== "FAILED"));
  if (pool === undefined) return { kind: "keep", why: below.length > 0 ? "FAILING" : "CEILING", spareSince: undefined, evidence };
  const before = countOf(present, pool.name);
  let [after, instances]: [number, readonly Pick<SizedInstance, "capacity">[]] = [before, counted];
  while (after < pool.max && isBeyond(instances, soon, SIZING.grow)) {
    after += 1;
    instances = [...instances, pool];
  }
  return { kind: "grow", pool: pool.name, before, after, isForPeak: false, evidence };
}

/** The first pool that has fewer than its peaks ask for, and none that failed. Nothing where that is decided, or declared, already. */
function growForPeak(
  { pools, sizes }: SizeFacts,
  present: readonly SizedInstance[],
  evidence: SizeEvidence,
): Extract<SizePlan, { kind: "grow" }> | undefined {
  const pool = pools.find((each) => {
    const asked = atPeak(each, "soon");
    const isSaid = Math.max(each.min, sizes[each.name]?.instances ?? 0) >= asked;
    return !isSaid && countOf(present, each.name) < asked && present.every((one) => one.pool !== each.name || one.state !== "FAILED");
  });
  if (pool === undefined) return undefined;
  const before = countOf(present, pool.name);
  return { kind: "grow", pool: pool.name, before, after: atPeak(pool, "soon"), isForPeak: true, evidence };
}

function atPeak({ peak, max }: ScaledPool, when: "soon" | "later"): number {
  return Math.min(max, peak?.[when] ?? 0);
}

/** The emptiest instance without which the class would do for two days, of a pool that may have fewer. */
function emptiest({ pools, later }: SizeFacts, { present, counted }: Fleet): SizedInstance | undefined {
  const may = counted.filter(({ pool: name, state }) => {
    const pool = pools.find((each) => each.name === name);
    return pool !== undefined && state === "ACTIVE" && countOf(present, name) > Math.max(1, pool.min, atPeak(pool, "later"));
  });
  return may
    .toSorted((a, b) => a.share - b.share || (a.id < b.id ? -1 : 1))
    .find(
      (one) =>
        !isBeyond(
          counted.filter(({ id }) => id !== one.id),
          later,
          SIZING.shrink,
        ),
    );
}

function evidenceOf(counted: readonly SizedInstance[], { soon, later }: SizeFacts): SizeEvidence {
  const capacity = capacityOf(counted);
  const most = fullest(soon, capacity);
  return {
    dimension: most.dimension,
    soon: most.share,
    later: fullest(later, capacity).share,
    withoutOne: fullest(soon, withoutLargest(counted)).share,
  };
}

function countOf(instances: readonly SizedInstance[], pool: string): number {
  return instances.filter((one) => one.pool === pool).length;
}

function capacityOf(instances: readonly Pick<SizedInstance, "capacity">[]): LoadVector {
  return instances.reduce((sum, { capacity }) => loadVector((dimension) => sum[dimension] + capacity[dimension]), ZERO_LOAD);
}

/** In each dimension without the instance that is largest there: whichever one fails, as much is left. */
function withoutLargest(instances: readonly Pick<SizedInstance, "capacity">[]): LoadVector {
  const all = capacityOf(instances);
  return loadVector((dimension) => all[dimension] - Math.max(0, ...instances.map(({ capacity }) => capacity[dimension])));
}

function fullest(load: LoadVector, capacity: LoadVector): { readonly dimension: LoadDimension; readonly share: number } {
  const shares = LOAD_DIMENSIONS.map((dimension) => ({
    dimension,
    share: Math.min(100 * WHOLE, shareOf(load[dimension], capacity[dimension])),
  }));
  return shares.reduce((most, each) => (each.share > most.share ? each : most));
}
