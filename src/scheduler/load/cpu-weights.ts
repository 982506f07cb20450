/** What CPU is made of, in thousandths of a core: an empty instance, and each request, resource and application. Argo CD measures none of these. */
export interface CpuWeights {
  readonly base: number;
  /** For one call to Kubernetes per minute. */
  readonly request: number;
  readonly resource: number;
  readonly application: number;
}

/** One instance over one day: what it had, and the CPU it took. */
export interface CpuObservation {
  readonly instance: string;
  readonly milliCpu: number;
  readonly requests: number;
  readonly resources: number;
  readonly applications: number;
}

/**
 * The weights before the first fit. Measured on Argo CD 3.5.7 with 700 small applications: a comparison takes 8 ms of CPU, and there is
 * one in two to three minutes. The base was measured on three instances with ten applications each, compared every six seconds: without
 * 8 to 11 ms for each comparison, 3 to 9 thousandths of a core are left. A base that is too high would charge the units of a small
 * instance nothing. The other weights are of the same order, and the first fit replaces them.
 */
export const FIRST_WEIGHTS: CpuWeights = { base: 5, request: 0.05, resource: 0.002, application: 0.06 };

/** A new fit may differ from yesterday's by this much: a bad fit must not cause a storm of moves. */
const LARGEST_CHANGE = 0.3;
/** Fewer observations than these say nothing about four unknowns. */
const FEWEST = 8;
const SWEEPS = 500;
const NAMES = ["base", "request", "resource", "application"] as const;

/**
 * Fits the weights to a day's observations: least squares without negative weights, by coordinate descent from yesterday's
 * weights, each then kept within 30 % of yesterday's. Deterministic: observations are taken in order of instance and the
 * number of sweeps is fixed. Too few observations, or impossible ones, leave yesterday's weights.
 */
export function nextCpuWeights(yesterday: CpuWeights, observations: readonly CpuObservation[]): CpuWeights {
  const rows = observations.filter(isPossible).sort((a, b) => (a.instance < b.instance ? -1 : 1));
  if (rows.length < FEWEST) return yesterday;
  const features = rows.map((row) => [1, row.requests, row.resources, row.applications]);
  const fitted = descend(
    features,
    rows.map(({ milliCpu }) => milliCpu),
    NAMES.map((name) => yesterday[name]),
  );
  const kept = (name: (typeof NAMES)[number]): number => {
    const was = yesterday[name];
    return Math.min(was * (1 + LARGEST_CHANGE), Math.max(was * (1 - LARGEST_CHANGE), fitted[NAMES.indexOf(name)] as number));
  };
  return { base: kept("base"), request: kept("request"), resource: kept("resource"), application: kept("application") };
}

function isPossible(row: CpuObservation): boolean {
  return [row.milliCpu, row.requests, row.resources, row.applications].every((value) => Number.isFinite(value) && value >= 0);
}

/** Minimises the sum of squares one weight at a time, none below zero. A feature that is always zero keeps its weight. */
function descend(features: readonly (readonly number[])[], wanted: readonly number[], start: readonly number[]): readonly number[] {
  const weights = [...start];
  const rest = wanted.map((value, row) => value - dot(features[row] as readonly number[], weights));
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    for (const [column, weight] of weights.entries()) {
      const values = features.map((row) => row[column] as number);
      const square = dot(values, values);
      if (square === 0) continue;
      const next = Math.max(0, weight + dot(values, rest) / square);
      for (const [row, value] of values.entries()) rest[row] = (rest[row] as number) + (weight - next) * value;
      weights[column] = next;
    }
  }
  return weights;
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, index) => sum + value * (b[index] as number), 0);
}
