import { sha256 } from "../domain/hash.ts";
import type { InstanceId, UnitId } from "../domain/ids.ts";
import type { InstanceState } from "../domain/instance.ts";
import { addLoad, LOAD_DIMENSIONS, type LoadDimension, type LoadVector } from "../domain/load.ts";
import { buildRing, type RingNode } from "./hash-ring.ts";
import { type PlacementPolicy, WHOLE } from "./policy.ts";
import type { RingSource } from "./ring-memo.ts";

/** An instance of the unit's class as the decision sees it. */
export interface Seat {
  readonly id: InstanceId;
  readonly name: string;
  readonly state: InstanceState;
  readonly load: LoadVector;
  readonly capacity: LoadVector;
  readonly weight: number;
}

/** Why an instance was passed over. Shares are parts per million. */
export type Refusal =
  | { readonly instance: InstanceId; readonly rule: "STATE"; readonly state: InstanceState }
  | {
      readonly instance: InstanceId;
      readonly rule: "BOUND";
      readonly dimension: LoadDimension;
      readonly would: number;
      readonly limit: number;
    };

export type PlacementRule = "PREFERRED" | "SPILL" | "LEAST_LOADED";

export type Placement =
  | {
      readonly kind: "chosen";
      readonly instance: InstanceId;
      readonly rule: PlacementRule;
      /** Largest load the instance may hold with the unit on it. */
      readonly ceiling: LoadVector;
      readonly facts: PlacementFacts;
    }
  | { readonly kind: "unplaceable"; readonly facts: PlacementFacts };

/** What the decision rested on: enough to take it again. */
export interface PlacementFacts {
  readonly preferred: InstanceId | undefined;
  readonly ring: string;
  /** Mean dominant utilisation of the class, and the bound the decision was made under, in parts per million. */
  readonly mean: number;
  readonly bound: number;
  readonly refusals: readonly Refusal[];
}

export interface PlacementQuestion {
  readonly unit: { readonly id: UnitId; readonly load: LoadVector };
  /** All instances of the unit's class that are not retired, in any order. */
  readonly seats: readonly Seat[];
  readonly policy: PlacementPolicy;
}

/**
 * Decides which instance a unit without owner gets.
 *
 * The ring orders the instances for this unit: the first is preferred. Under a bound on dominant utilisation that starts at
 * 1.05 × the mean (never below 0.60), is loosened to 1.10 × and at last to 0.90, the first of eight candidates that would stay
 * within the bound is taken; where none would, the least loaded instance that would. Nothing fits: unplaceable.
 *
 * The same question gives the same answer in whatever order the instances come; ties go by hash of unit and instance.
 * `ringOf` saves building the ring anew; the answer does not depend on it.
 */
export function placeUnit({ unit, seats, policy }: PlacementQuestion, ringOf: RingSource = buildRing): Placement {
  const ring = ringOf(ringNodes(seats));
  const byId = new Map<string, Seat>(seats.map((seat) => [seat.id, seat]));
  const walk = ring.candidates(unit.id, policy.candidates).flatMap((id) => byId.get(id) ?? []);
  const mean = meanUtilisation(seats);
  let refusals: readonly Refusal[] = [];
  let bound = 0;
  for (bound of boundsOf(mean, policy)) {
    const tried = walk.map((seat) => ({ seat, refusal: whyNot(seat, unit.load, bound) }));
    const found = tried.findIndex(({ refusal }) => refusal === undefined);
    refusals = tried.slice(0, found < 0 ? tried.length : found).flatMap(({ refusal }) => refusal ?? []);
    const spilled = tried[found]?.seat;
    const seat = spilled ?? leastLoaded(seats, unit, bound);
    if (seat === undefined) continue;
    const rule = spilled === undefined ? "LEAST_LOADED" : found === 0 ? "PREFERRED" : "SPILL";
    return {
      kind: "chosen",
      instance: seat.id,
      rule,
      ceiling: ceilingOf(seat, bound),
      facts: { preferred: walk[0]?.id, ring: ring.version, mean, bound, refusals },
    };
  }
  const others = seats.filter((seat) => !walk.includes(seat)).sort((a, b) => (a.id < b.id ? -1 : 1));
  const everybody = [...walk, ...others].slice(0, REFUSALS_KEPT).flatMap((seat) => whyNot(seat, unit.load, bound) ?? []);
  return { kind: "unplaceable", facts: { preferred: walk[0]?.id, ring: ring.version, mean, bound, refusals: everybody } };
}

/** A decision that nothing fits names this many instances at most, so that a large fleet's journal stays readable. */
const REFUSALS_KEPT = 20;

/**
 * Members that drain or are cordoned stay on the ring, so that a drain changes nobody's preference; those that do not serve
 * yet, or no longer, would only lengthen the walk.
 */
const ON_RING: readonly InstanceState[] = ["ACTIVE", "CORDONED", "DRAINING"];

function ringNodes(seats: readonly Seat[]): readonly RingNode[] {
  return seats.filter(({ state }) => ON_RING.includes(state)).map(({ id, weight }) => ({ id, weight }));
}

/** Why a unit of this load may not go to an instance under a bound; `undefined` when it may. */
function whyNot(seat: Seat, load: LoadVector, bound: number): Refusal | undefined {
  if (seat.state !== "ACTIVE") return { instance: seat.id, rule: "STATE", state: seat.state };
  const after = addLoad(seat.load, load);
  const ceiling = ceilingOf(seat, bound);
  const full = LOAD_DIMENSIONS.filter((dimension) => after[dimension] > ceiling[dimension]);
  const worst = largest(full, (dimension) => shareOf(after[dimension], seat.capacity[dimension]));
  if (worst === undefined) return undefined;
  return { instance: seat.id, rule: "BOUND", dimension: worst, would: shareOf(after[worst], seat.capacity[worst]), limit: bound };
}

/** Bounds in the order they are tried: each at least the activity threshold and at most the hard limit, without repetition. */
function boundsOf(mean: number, policy: PlacementPolicy): readonly number[] {
  const clip = (bound: number): number => Math.min(policy.hardLimit, Math.max(policy.activity, bound));
  const relative = [policy.tight, policy.loose].map((factor) => clip(Math.floor((mean * factor) / WHOLE)));
  return [...new Set([...relative, policy.hardLimit])];
}

/** Mean utilisation of the class in its fullest dimension, over instances that take units. */
function meanUtilisation(seats: readonly Seat[]): number {
  const active = seats.filter((seat) => seat.state === "ACTIVE");
  const sum = (pick: (seat: Seat) => number): number => active.reduce((total, seat) => total + pick(seat), 0);
  const shares = LOAD_DIMENSIONS.map((dimension) =>
    shareOf(
      sum((seat) => seat.load[dimension]),
      sum((seat) => seat.capacity[dimension]),
    ),
  );
  return Math.max(0, ...shares);
}

function leastLoaded(seats: readonly Seat[], unit: PlacementQuestion["unit"], bound: number): Seat | undefined {
  const fitting = seats.filter((seat) => whyNot(seat, unit.load, bound) === undefined);
  const scored = fitting.map((seat) => ({
    seat,
    share: dominantShare(addLoad(seat.load, unit.load), seat.capacity),
    tie: sha256(`${unit.id}|${seat.id}`),
  }));
  return scored.sort((a, b) => a.share - b.share || (a.tie < b.tie ? -1 : 1))[0]?.seat;
}

function dominantShare(load: LoadVector, capacity: LoadVector): number {
  return Math.max(...LOAD_DIMENSIONS.map((dimension) => shareOf(load[dimension], capacity[dimension])));
}

/** Load as parts per million of capacity, rounded up; something on nothing is beyond every bound. */
function shareOf(load: number, capacity: number): number {
  if (load <= 0) return 0;
  return capacity <= 0 ? Number.MAX_SAFE_INTEGER : Math.ceil((load * WHOLE) / capacity);
}

function ceilingOf(seat: Seat, bound: number): LoadVector {
  const of = (dimension: LoadDimension): number => Math.floor((Math.max(0, seat.capacity[dimension]) * bound) / WHOLE);
  return {
    applications: of("applications"),
    clusterEntries: of("clusterEntries"),
    cachedResources: of("cachedResources"),
    milliCpu: of("milliCpu"),
    gitPerMinute: of("gitPerMinute"),
  };
}

function largest<T>(items: readonly T[], score: (item: T) => number): T | undefined {
  return items.reduce<T | undefined>((best, item) => (best === undefined || score(item) > score(best) ? item : best), undefined);
}
