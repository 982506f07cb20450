import { LOAD_DIMENSIONS, type LoadDimension, type LoadVector, loadVector } from "../domain/load.ts";
import { type PlacementPolicy, WHOLE } from "./policy.ts";

/**
 * One dimension's load as a share of its capacity, in parts per million (ppm), rounded up. Any load on no capacity is
 * above every bound.
 */
export function shareOf(load: number, capacity: number): number {
  if (load <= 0) return 0;
  return capacity <= 0 ? Number.MAX_SAFE_INTEGER : Math.ceil((load * WHOLE) / capacity);
}

/** Utilisation: the share of the fullest dimension, in ppm. */
export function dominantShare(load: LoadVector, capacity: LoadVector): number {
  return Math.max(...LOAD_DIMENSIONS.map((dimension) => shareOf(load[dimension], capacity[dimension])));
}

/**
 * The largest load whose share stays within a bound (in ppm) in every dimension. It is rounded down, as shares are
 * rounded up: a load is within the ceiling where its share is within the bound.
 */
export function ceilingOf(capacity: LoadVector, bound: number): LoadVector {
  return loadVector((dimension) => Math.floor((Math.max(0, capacity[dimension]) * bound) / WHOLE));
}

/**
 * The bounds that placement tries in turn, the tightest first, in ppm and each once: two relative to the mean (see
 * `boundAt`), then the hard limit.
 */
export function boundsOf(mean: number, policy: PlacementPolicy): readonly number[] {
  return [...new Set([boundAt(mean, policy.tight, policy), boundAt(mean, policy.loose, policy), policy.hardLimit])];
}

/**
 * The bound that is `factor` times the mean utilisation, both in ppm. It is at least the activity threshold and at most
 * the hard limit.
 */
export function boundAt(mean: number, factor: number, policy: PlacementPolicy): number {
  return Math.min(policy.hardLimit, Math.max(policy.activity, Math.floor((mean * factor) / WHOLE)));
}

/**
 * Mean utilisation of several instances, in ppm: the sum of all loads as a share of the sum of all capacities, in the
 * dimension where that is largest. So a large instance counts for more than a small one.
 */
export function meanShare(loads: readonly LoadVector[], capacities: readonly LoadVector[]): number {
  const sum = (rows: readonly LoadVector[], dimension: LoadDimension): number => rows.reduce((total, row) => total + row[dimension], 0);
  return Math.max(...LOAD_DIMENSIONS.map((dimension) => shareOf(sum(loads, dimension), sum(capacities, dimension))));
}
