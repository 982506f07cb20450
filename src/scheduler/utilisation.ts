import { LOAD_DIMENSIONS, type LoadDimension, type LoadVector, loadVector } from "../domain/load.ts";
import { type PlacementPolicy, WHOLE } from "./policy.ts";

/** Load as parts per million of capacity, rounded up; any load on no capacity is beyond every bound. */
export function shareOf(load: number, capacity: number): number {
  if (load <= 0) return 0;
  return capacity <= 0 ? Number.MAX_SAFE_INTEGER : Math.ceil((load * WHOLE) / capacity);
}

/** Utilisation in the fullest dimension. */
export function dominantShare(load: LoadVector, capacity: LoadVector): number {
  return Math.max(...LOAD_DIMENSIONS.map((dimension) => shareOf(load[dimension], capacity[dimension])));
}

/** The largest load that is within a bound. */
export function ceilingOf(capacity: LoadVector, bound: number): LoadVector {
  return loadVector((dimension) => Math.floor((Math.max(0, capacity[dimension]) * bound) / WHOLE));
}

/** Bounds in the order they are tried: each at least the activity threshold and at most the hard limit, without repetition. */
export function boundsOf(mean: number, policy: PlacementPolicy): readonly number[] {
  return [...new Set([boundAt(mean, policy.tight, policy), boundAt(mean, policy.loose, policy), policy.hardLimit])];
}

/** A bound relative to the mean: at least the activity threshold, at most the hard limit. */
export function boundAt(mean: number, factor: number, policy: PlacementPolicy): number {
  return Math.min(policy.hardLimit, Math.max(policy.activity, Math.floor((mean * factor) / WHOLE)));
}

/** Mean utilisation in the fullest dimension: what all loads together are of all capacities together. */
export function meanShare(loads: readonly LoadVector[], capacities: readonly LoadVector[]): number {
  const sum = (rows: readonly LoadVector[], dimension: LoadDimension): number => rows.reduce((total, row) => total + row[dimension], 0);
  return Math.max(...LOAD_DIMENSIONS.map((dimension) => shareOf(sum(loads, dimension), sum(capacities, dimension))));
}
