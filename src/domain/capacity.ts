import type { Millis } from "./clock.ts";
import { type FleetSpec, isScaled, type PoolSpec } from "./fleet.ts";
import type { LoadAmounts, LoadDimension } from "./load.ts";

/**
 * What a class was measured to take, hour by hour of the week, in the units of a `LoadVector`. Hours are counted in UTC from Thursday, 00:00, as the time
 * of 1970 begins; the most of each hour is kept.
 */
export interface DemandHistory {
  /** By the hour of the week, 0 to 167. */
  readonly hours: Readonly<Record<string, DemandOfHour>>;
}

export interface DemandOfHour {
  /** When that hour began. */
  readonly at: Millis;
  readonly load: LoadAmounts;
  /** The same hour one week earlier, if it was measured. */
  readonly before?: LoadAmounts | undefined;
}

const HOUR_MS = 3_600_000;
/** How slowly pools shrink where the configuration does not say: how long one instance fewer has to do, and how long after a change none is given up, in ms. */
export const USUAL_SCALING = { spareMs: 6 * HOUR_MS, restMs: 12 * HOUR_MS } as const;

/**
 * How far ahead is planned, in ms. An instance is made in minutes, but takes its share within half a day, as budgets let it: several that are missing at noon have to be
 * there the night before. One that is emptied should not be missed a day later, or all of its workspaces move for a night.
 */
export const PLANNED_AHEAD = { soonMs: 24 * HOUR_MS, laterMs: 48 * HOUR_MS } as const;

/** How many instances a pool is to have, where that is not declared. */
export interface PoolSize {
  readonly instances: number;
  readonly at: Millis;
  /** Why, for people. */
  readonly reason: string;
}

/** How many instances pools are to have, by name of the pool. */
export type PoolSizes = Readonly<Record<string, PoolSize>>;

/** What the size of a class's pools was last decided by. Shares are ppm of the capacity of its instances in their fullest dimension. */
export interface Sizing {
  readonly at: Millis;
  readonly dimension: LoadDimension;
  /** The most that is expected within a day, and within two. */
  readonly soon: number;
  readonly later: number;
  /** The most within a day if the largest instance were gone. */
  readonly withoutOne: number;
  /** Since when one instance fewer would do; absent: it would not. */
  readonly spareSince?: Millis | undefined;
  /** Since when more are needed than its pools may have; absent: they may. */
  readonly shortSince?: Millis | undefined;
}

/** What instances held when their controllers ran out of memory that nobody could give them, and when that was seen last, by id: they bear no more. */
export type FullInstances = Readonly<Record<string, { readonly at: Millis; readonly load: LoadAmounts }>>;

/** A pool whose size is decided by load asks for so many as was decided, within its bounds; all others for what they declare. */
export function withSize<Pool extends Pick<PoolSpec, "name" | "instances">>(pool: Pool, sizes: PoolSizes): Pool {
  const { min, max } = pool.instances;
  const wanted = sizes[pool.name]?.instances;
  if (!isScaled(pool) || wanted === undefined) return pool;
  return { ...pool, instances: { ...pool.instances, min: Math.min(max, Math.max(min, wanted)) } };
}

/** The same of every pool. */
export function withSizes(spec: FleetSpec, sizes: PoolSizes): FleetSpec {
  return { ...spec, pools: spec.pools.map((pool) => withSize(pool, sizes)) };
}

/** Whether any pool's size is decided by load. */
export function isAnyScaled({ pools }: Pick<FleetSpec, "pools">): boolean {
  return pools.some(isScaled);
}
