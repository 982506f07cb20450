import { sha256 } from "../../src/domain/hash.ts";
import type { InstanceId } from "../../src/domain/ids.ts";
import type { LoadDimension } from "../../src/domain/load.ts";
import type { PlanSeat, PlanUnit } from "../../src/scheduler/plan/snapshot.ts";

/** Deals units to instances; those that remember start from the owners the units have. */
export type Baseline = (seats: readonly PlanSeat[], units: readonly PlanUnit[], dimension: LoadDimension) => readonly PlanUnit[];

const active = (seats: readonly PlanSeat[]): readonly PlanSeat[] => seats.filter(({ state }) => state === "ACTIVE");
const owned = (unit: PlanUnit, seat: PlanSeat | undefined): PlanUnit => ({ ...unit, owner: seat?.id as InstanceId });

/** Position of a text on a ring of 2^32. */
function position(text: string): number {
  return Number.parseInt(sha256(text).slice(0, 8), 16);
}

interface Ring {
  readonly at: Float64Array;
  readonly seats: readonly PlanSeat[];
}

let last: { readonly key: string; readonly ring: Ring } | undefined;

/** The ring of these instances, remembered until another is asked for: events that change none of them share it. */
function ringOf(seats: readonly PlanSeat[], pointsOf: (seat: PlanSeat) => number): Ring {
  const key = seats.map((seat) => `${seat.id} ${pointsOf(seat)}`).join();
  if (last?.key !== key) last = { key, ring: buildRing(seats, pointsOf) };
  return last.ring;
}

/** Sorts numbers that hold position and instance in one: half a million objects would take a second. */
function buildRing(seats: readonly PlanSeat[], pointsOf: (seat: PlanSeat) => number): Ring {
  const points = new Float64Array(seats.reduce((sum, seat) => sum + pointsOf(seat), 0));
  let next = 0;
  for (const [index, seat] of seats.entries())
    for (let point = 0; point < pointsOf(seat); point += 1) {
      points[next] = position(`${seat.id}#${point}`) * seats.length + index;
      next += 1;
    }
  points.sort();
  return {
    at: points.map((each) => Math.floor(each / seats.length)),
    seats: Array.from(points, (each) => seats[each % seats.length] as PlanSeat),
  };
}

/** Instances clockwise of a key, with repetitions. */
function* clockwise(ring: Ring, key: string): Generator<PlanSeat> {
  const wanted = position(key);
  let [low, high] = [0, ring.at.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ring.at[middle] as number) < wanted) low = middle + 1;
    else high = middle;
  }
  for (let step = 0; step < ring.at.length; step += 1) yield ring.seats[(low + step) % ring.at.length] as PlanSeat;
}

/** A plain ring of 100 points for each unit of weight. */
export const plainRing: Baseline = (seats, units) => {
  const ring = ringOf(active(seats), ({ weight }) => 100 * weight);
  return units.map((unit) => owned(unit, clockwise(ring, unit.id).next().value as PlanSeat));
};

/**
 * Bounded loads as Argo CD shards its clusters: 1,000 points for each replica whatever its size, and the first replica whose
 * load before the addition is below ⌈1.25 × the whole-number mean of what was placed so far⌉, in order of name, from scratch.
 */
export const argoCdBoundedLoads: Baseline = (seats, units, dimension) => {
  const replicas = active(seats);
  const ring = ringOf(replicas, () => 1_000);
  const loads = new Map<string, number>();
  let placed = 0;
  return units.map((unit) => {
    const limit = Math.ceil(1.25 * Math.max(1, Math.floor(placed / replicas.length)));
    let chosen: PlanSeat | undefined;
    for (const seat of clockwise(ring, unit.id)) {
      chosen ??= seat;
      if ((loads.get(seat.id) ?? 0) >= limit) continue;
      chosen = seat;
      break;
    }
    const seat = chosen as PlanSeat;
    loads.set(seat.id, (loads.get(seat.id) ?? 0) + unit.load[dimension]);
    placed += unit.load[dimension];
    return owned(unit, seat);
  });
};

/** The less loaded of two instances drawn by hash in proportion to their capacity, once and for ever. */
export const twoChoices: Baseline = (seats, units, dimension) => {
  const candidates = active(seats);
  const known = new Map<string, PlanSeat>(candidates.map((seat) => [seat.id as string, seat]));
  const tickets = candidates.flatMap((seat) => Array.from({ length: seat.weight }, () => seat));
  const loads = new Map<string, number>();
  const add = (seat: PlanSeat, unit: PlanUnit): void => void loads.set(seat.id, (loads.get(seat.id) ?? 0) + unit.load[dimension]);
  const share = (seat: PlanSeat): number => (loads.get(seat.id) ?? 0) / seat.capacity[dimension];
  for (const unit of units) {
    const seat = known.get(unit.owner ?? "");
    if (seat !== undefined) add(seat, unit);
  }
  return units.map((unit) => {
    if (known.has(unit.owner ?? "")) return unit;
    const [a, b] = ["a", "b"].map((salt) => tickets[position(`${salt} ${unit.id}`) % tickets.length] as PlanSeat) as [PlanSeat, PlanSeat];
    const seat = share(b) < share(a) ? b : a;
    add(seat, unit);
    return owned(unit, seat);
  });
};

/** Everything dealt anew, largest first, to whoever is least loaded: how good it could be, and at what price. */
export const fromScratch: Baseline = (seats, units, dimension) => {
  const candidates = active(seats).map((seat) => ({ seat, load: 0 }));
  const owners = new Map<string, PlanSeat>();
  const bySize = units.toSorted((a, b) => b.load[dimension] - a.load[dimension] || (a.id < b.id ? -1 : 1));
  for (const unit of bySize) {
    const share = ({ seat, load }: (typeof candidates)[number]): number => (load + unit.load[dimension]) / seat.capacity[dimension];
    const best = candidates.reduce((a, b) => (share(b) < share(a) ? b : a));
    best.load += unit.load[dimension];
    owners.set(unit.id, best.seat);
  }
  return units.map((unit) => owned(unit, owners.get(unit.id)));
};
