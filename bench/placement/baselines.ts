import { sha256 } from "../../src/domain/hash.ts";
import type { InstanceId } from "../../src/domain/ids.ts";
import type { LoadDimension } from "../../src/domain/load.ts";
import type { PlanCandidate, PlanUnit } from "../../src/scheduler/plan/snapshot.ts";

/** An algorithm that assigns units to instances. Those with a memory start from the units' present owners. */
export type Baseline = (candidates: readonly PlanCandidate[], units: readonly PlanUnit[], dimension: LoadDimension) => readonly PlanUnit[];

const active = (candidates: readonly PlanCandidate[]): readonly PlanCandidate[] => candidates.filter(({ state }) => state === "ACTIVE");
const owned = (unit: PlanUnit, candidate: PlanCandidate | undefined): PlanUnit => ({ ...unit, owner: candidate?.id as InstanceId });

/** The position of a text on a ring of 2^32. */
function position(text: string): number {
  return Number.parseInt(sha256(text).slice(0, 8), 16);
}

interface Ring {
  readonly at: Float64Array;
  readonly candidates: readonly PlanCandidate[];
}

let last: { readonly key: string; readonly ring: Ring } | undefined;

/** The ring of these instances. The last one is kept, because most events do not change it. */
function ringOf(candidates: readonly PlanCandidate[], pointsOf: (candidate: PlanCandidate) => number): Ring {
  const key = candidates.map((candidate) => `${candidate.id} ${pointsOf(candidate)}`).join();
  if (last?.key !== key) last = { key, ring: buildRing(candidates, pointsOf) };
  return last.ring;
}

/** Sorts numbers that hold both position and instance. Sorting half a million objects would take a second. */
function buildRing(candidates: readonly PlanCandidate[], pointsOf: (candidate: PlanCandidate) => number): Ring {
  const points = new Float64Array(candidates.reduce((sum, candidate) => sum + pointsOf(candidate), 0));
  let next = 0;
  for (const [index, candidate] of candidates.entries())
    for (let point = 0; point < pointsOf(candidate); point += 1) {
      points[next] = position(`${candidate.id}#${point}`) * candidates.length + index;
      next += 1;
    }
  points.sort();
  return {
    at: points.map((each) => Math.floor(each / candidates.length)),
    candidates: Array.from(points, (each) => candidates[each % candidates.length] as PlanCandidate),
  };
}

/** Instances clockwise from a key, with repetitions. */
function* clockwise(ring: Ring, key: string): Generator<PlanCandidate> {
  const wanted = position(key);
  let [low, high] = [0, ring.at.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ring.at[middle] as number) < wanted) low = middle + 1;
    else high = middle;
  }
  for (let step = 0; step < ring.at.length; step += 1) yield ring.candidates[(low + step) % ring.at.length] as PlanCandidate;
}

/** A plain ring with 100 points for each unit of weight. */
export const plainRing: Baseline = (candidates, units) => {
  const ring = ringOf(active(candidates), ({ weight }) => 100 * weight);
  return units.map((unit) => owned(unit, clockwise(ring, unit.id).next().value as PlanCandidate));
};

/**
 * Bounded loads as Argo CD shards its clusters: 1,000 points for each replica whatever its size. It takes the first
 * replica whose load before the addition is below ⌈1.25 × the whole-number mean of what was placed so far⌉, in order
 * of name, and starts from scratch each time.
 */
export const argoCdBoundedLoads: Baseline = (candidates, units, dimension) => {
  const replicas = active(candidates);
  const ring = ringOf(replicas, () => 1_000);
  const loads = new Map<string, number>();
  let placed = 0;
  return units.map((unit) => {
    const limit = Math.ceil(1.25 * Math.max(1, Math.floor(placed / replicas.length)));
    let chosen: PlanCandidate | undefined;
    for (const candidate of clockwise(ring, unit.id)) {
      chosen ??= candidate;
      if ((loads.get(candidate.id) ?? 0) >= limit) continue;
      chosen = candidate;
      break;
    }
    const candidate = chosen as PlanCandidate;
    loads.set(candidate.id, (loads.get(candidate.id) ?? 0) + unit.load[dimension]);
    placed += unit.load[dimension];
    return owned(unit, candidate);
  });
};

/** The less loaded of two instances, which are drawn by hash in proportion to their capacity, once and for ever. */
export const twoChoices: Baseline = (candidates, units, dimension) => {
  const open = active(candidates);
  const known = new Map<string, PlanCandidate>(open.map((candidate) => [candidate.id as string, candidate]));
  const tickets = open.flatMap((candidate) => Array.from({ length: candidate.weight }, () => candidate));
  const loads = new Map<string, number>();
  const add = (candidate: PlanCandidate, unit: PlanUnit): void =>
    void loads.set(candidate.id, (loads.get(candidate.id) ?? 0) + unit.load[dimension]);
  const share = (candidate: PlanCandidate): number => (loads.get(candidate.id) ?? 0) / candidate.capacity[dimension];
  for (const unit of units) {
    const candidate = known.get(unit.owner ?? "");
    if (candidate !== undefined) add(candidate, unit);
  }
  return units.map((unit) => {
    if (known.has(unit.owner ?? "")) return unit;
    const [a, b] = ["a", "b"].map((salt) => tickets[position(`${salt} ${unit.id}`) % tickets.length] as PlanCandidate) as [
      PlanCandidate,
      PlanCandidate,
    ];
    const candidate = share(b) < share(a) ? b : a;
    add(candidate, unit);
    return owned(unit, candidate);
  });
};

/** Assigns everything again, largest first, to the least loaded instance: how good an assignment could be, and at what price. */
export const fromScratch: Baseline = (candidates, units, dimension) => {
  const open = active(candidates).map((candidate) => ({ candidate, load: 0 }));
  const owners = new Map<string, PlanCandidate>();
  const bySize = units.toSorted((a, b) => b.load[dimension] - a.load[dimension] || (a.id < b.id ? -1 : 1));
  for (const unit of bySize) {
    const share = ({ candidate, load }: (typeof open)[number]): number => (load + unit.load[dimension]) / candidate.capacity[dimension];
    const best = open.reduce((a, b) => (share(b) < share(a) ? b : a));
    best.load += unit.load[dimension];
    owners.set(unit.id, best.candidate);
  }
  return units.map((unit) => owned(unit, owners.get(unit.id)));
};
