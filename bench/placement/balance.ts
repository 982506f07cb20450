import { LOAD_DIMENSIONS, type LoadDimension } from "../../src/domain/load.ts";
import type { PlanCandidate, PlanUnit } from "../../src/scheduler/plan/snapshot.ts";

/** The utilisation of each ACTIVE instance in its fullest dimension. */
function sharesOf(candidates: readonly PlanCandidate[], units: readonly PlanUnit[]): readonly number[] {
  const loads = loadsOf(units);
  return candidates
    .filter(({ state }) => state === "ACTIVE")
    .map(({ id, capacity }) =>
      Math.max(...LOAD_DIMENSIONS.map((dimension, d) => (capacity[dimension] === 0 ? 0 : (loads.get(id)?.[d] ?? 0) / capacity[dimension]))),
    );
}

/** The mean utilisation over ACTIVE instances, in the fullest dimension, for all load. */
export function meanOf(candidates: readonly PlanCandidate[], units: readonly PlanUnit[]): number {
  const active = candidates.filter(({ state }) => state === "ACTIVE");
  return Math.max(
    ...LOAD_DIMENSIONS.map((dimension) => {
      const capacity = active.reduce((sum, { capacity }) => sum + capacity[dimension], 0);
      return capacity === 0 ? 0 : units.reduce((sum, { load }) => sum + load[dimension], 0) / capacity;
    }),
  );
}

/** The largest utilisation over the mean. */
export function maxOverMean(candidates: readonly PlanCandidate[], units: readonly PlanUnit[]): number {
  return Math.max(...sharesOf(candidates, units)) / meanOf(candidates, units);
}

export interface Change {
  readonly moves: number;
  /** Share of all load that changed its instance. */
  readonly load: number;
}

/** What changed between two assignments of the same units: owners, in one dimension. */
export function changeOf(before: readonly PlanUnit[], after: readonly PlanUnit[], dimension: LoadDimension): Change {
  const total = after.reduce((sum, { load }) => sum + load[dimension], 0);
  const moved = after.filter(({ owner }, index) => before[index]?.owner !== undefined && owner !== before[index]?.owner);
  return { moves: moved.length, load: moved.reduce((sum, { load }) => sum + load[dimension], 0) / total };
}

function loadsOf(units: readonly PlanUnit[]): ReadonlyMap<string, readonly number[]> {
  const loads = new Map<string, number[]>();
  for (const { owner, load } of units) {
    if (owner === undefined) continue;
    const sum = loads.get(owner) ?? LOAD_DIMENSIONS.map(() => 0);
    for (const [d, dimension] of LOAD_DIMENSIONS.entries()) sum[d] = (sum[d] as number) + load[dimension];
    loads.set(owner, sum);
  }
  return loads;
}
