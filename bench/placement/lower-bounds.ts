import type { LoadDimension } from "../../src/domain/load.ts";
import type { PlanCandidate, PlanUnit } from "../../src/scheduler/plan/snapshot.ts";
import { meanOf } from "./balance.ts";

export interface Bounds {
  /** The load that any plan which ends within the bound has to move, in whole units, as a share of all load. */
  readonly load: number;
  /** The number of moves that any such plan needs. */
  readonly moves: number;
}

/** The excess of an instance is cut into so many steps to find the least sum of units that covers it. */
const RESOLUTION = 4_096;

export interface Aim {
  readonly dimension: LoadDimension;
  /** What instances above the bound come down to, over the mean. */
  readonly to: number;
}

/**
 * The discrete lower bound: what has to leave its instance in any case, and the larger of two numbers: what overfull
 * instances have to give (a least sum of whole units, found by dynamic programming) and what underfull instances have
 * to get.
 */
export function lowerBounds(candidates: readonly PlanCandidate[], units: readonly PlanUnit[], { dimension, to }: Aim): Bounds {
  const mean = meanOf(candidates, units);
  const [bound, target] = [1.1, to].map((factor) => Math.min(0.9, Math.max(factor * mean, 0.6))) as [number, number];
  const state = new Map(candidates.map((candidate) => [candidate.id as string, candidate.state]));
  const forced = units.filter(({ owner }) => owner !== undefined && state.get(owner) !== "ACTIVE");
  const on = Map.groupBy(units, ({ owner }) => owner as string | undefined);
  let [given, got, moves] = [0, 0, forced.length];
  for (const { id, state: is, capacity, isFilling } of candidates) {
    if (is !== "ACTIVE") continue;
    const loads = (on.get(id) ?? []).map(({ load }) => load[dimension]);
    const sum = loads.reduce((a, b) => a + b, 0);
    const excess = sum - Math.floor(target * capacity[dimension]);
    if (sum > Math.floor(bound * capacity[dimension])) {
      given += leastSum(loads, excess);
      moves += fewest(loads, excess);
    }
    if (isFilling) got += Math.max(0, 0.95 * mean * capacity[dimension] - sum);
  }
  const total = units.reduce((sum, { load }) => sum + load[dimension], 0);
  return { load: (forced.reduce((sum, { load }) => sum + load[dimension], 0) + Math.max(given, got)) / total, moves };
}

/** The least sum of some of the amounts that is at least `excess`, to one part in RESOLUTION, and never below `excess`. */
function leastSum(amounts: readonly number[], excess: number): number {
  const enough = amounts.filter((amount) => amount >= excess);
  const most = enough.length > 0 ? Math.min(...enough) : amounts.reduce((a, b) => a + b, 0);
  const step = Math.max(1, most / RESOLUTION);
  const mask = (1n << BigInt(Math.ceil(most / step) + 2)) - 1n;
  let reachable = 1n;
  for (const amount of amounts) if (amount <= most) reachable |= (reachable << BigInt(Math.round(amount / step))) & mask;
  let at = Math.round(excess / step);
  while (at * step <= most && ((reachable >> BigInt(at)) & 1n) === 0n) at += 1;
  return Math.max(excess, Math.min(most, at * step));
}

/**
 * The least sum of at least `excess` that a plan with at most one move more than the fewest can have. Exact where one
 * amount is enough, by trying every pair; `excess` itself where more are needed.
 */
export function leastOfFew(amounts: readonly number[], excess: number): number {
  if (fewest(amounts, excess) !== 1) return excess;
  const sorted = amounts.toSorted((a, b) => a - b);
  let least = sorted.find((amount) => amount >= excess) ?? Number.POSITIVE_INFINITY;
  for (const [index, a] of sorted.entries())
    for (const b of sorted.slice(index + 1)) {
      if (a + b < excess) continue;
      least = Math.min(least, a + b);
      break;
    }
  return least;
}

function fewest(amounts: readonly number[], excess: number): number {
  let sum = 0;
  const sorted = amounts.toSorted((a, b) => b - a);
  return (
    sorted.findIndex((amount) => {
      sum += amount;
      return sum >= excess;
    }) + 1
  );
}
