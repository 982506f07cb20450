import { sha256 } from "../domain/hash.ts";
import type { InstanceId, UnitId } from "../domain/ids.ts";
import type { InstanceState } from "../domain/instance.ts";
import { addLoad, LOAD_DIMENSIONS, type LoadDimension, type LoadVector } from "../domain/load.ts";
import { chooseSeat, type Room } from "./choose-seat.ts";
import { type Ineligible, NO_WISH, type Offer, type Wish, whyNotEligible } from "./eligibility.ts";
import { buildRing, type RingNode } from "./hash-ring.ts";
import type { PlacementPolicy } from "./policy.ts";
import type { RingSource } from "./ring-memo.ts";
import { boundsOf, ceilingOf, dominantShare, meanShare, shareOf } from "./utilisation.ts";

/** An instance with what it carries and could carry. */
export interface Held extends Offer {
  readonly load: LoadVector;
  readonly capacity: LoadVector;
}

/** An instance of the unit's class as the decision sees it. */
export interface Seat extends Held {
  readonly name: string;
  readonly weight: number;
}

/** Why an instance was passed over. Shares are parts per million. */
export type Refusal =
  | Ineligible
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
  readonly unit: { readonly id: UnitId; readonly load: LoadVector; readonly wish?: Wish };
  /** All instances of the unit's class that are not retired, in any order. */
  readonly seats: readonly Seat[];
  readonly policy: PlacementPolicy;
}

/**
 * Decides which instance a unit without owner gets.
 *
 * The ring orders the instances for this unit: the first is preferred. Under a bound on dominant utilisation that starts at
 * 1.05 × the mean (never below 0.60), is loosened to 1.10 × and at last to 0.90, the first of eight candidates that would stay
 * within the bound is taken; where none would, the least loaded instance that would. Where nothing fits, instances of which nobody can
 * tell how they are have to do, in the same way: what cannot be looked at may work all the same. Nothing fits: unplaceable.
 *
 * The same question gives the same answer in whatever order the instances come; ties go by hash of unit and instance.
 * `ringOf` saves building the ring anew; the answer does not depend on it.
 */
export function placeUnit(question: PlacementQuestion, ringOf: RingSource = buildRing): Placement {
  const { unit, policy } = question;
  const seats = [...question.seats].sort((a, b) => (a.id < b.id ? -1 : 1));
  const ring = ringOf(ringNodes(seats));
  const indexOf = new Map<string, number>(seats.map(({ id }, index) => [id, index]));
  const walk = ring.candidates(unit.id, policy.candidates).flatMap((id) => indexOf.get(id) ?? []);
  const mean = meanUtilisation(seats);
  const refusal = (index: number, bound: number, takesUnknown: boolean): Refusal | undefined =>
    whyNot(seats[index] as Seat, unit, bound, takesUnknown);
  const roomOf = (takesUnknown: boolean): Room => ({
    size: seats.length,
    admits: (index, bound) => refusal(index, bound, takesUnknown) === undefined,
    shareWith: (index) => shareWith(seats[index] as Seat, unit.load),
    tie: (index) => sha256(`${unit.id}|${seats[index]?.id}`),
  });
  const bounds = boundsOf(mean, policy);
  const choice = chooseSeat(roomOf(false), walk, bounds) ?? chooseSeat(roomOf(true), walk, bounds);
  const facts = { preferred: seats[walk[0] ?? -1]?.id, ring: ring.version, mean };
  if (choice === undefined) {
    const others = seats.flatMap((_, index) => (walk.includes(index) ? [] : [index]));
    const refusals = [...walk, ...others].slice(0, REFUSALS_KEPT).flatMap((index) => refusal(index, policy.hardLimit, true) ?? []);
    return { kind: "unplaceable", facts: { ...facts, bound: policy.hardLimit, refusals } };
  }
  const { rank, bound } = choice;
  const seat = seats[choice.seat] as Seat;
  const takesUnknown = seat.health === "unknown";
  const refusals = walk.slice(0, rank < 0 ? walk.length : rank).flatMap((index) => refusal(index, bound, takesUnknown) ?? []);
  return {
    kind: "chosen",
    instance: seat.id,
    rule: ruleOf(rank),
    ceiling: ceilingOf(seat.capacity, bound),
    facts: { ...facts, bound, refusals },
  };
}

/** The rule that gave a unit its seat, by the seat's place in the ring's walk; -1: it was not among the candidates. */
function ruleOf(rank: number): PlacementRule {
  if (rank === 0) return "PREFERRED";
  return rank < 0 ? "LEAST_LOADED" : "SPILL";
}

/** A decision that nothing fits names this many instances at most, so that a large fleet's journal stays readable. */
const REFUSALS_KEPT = 20;

/**
 * Members that drain or are cordoned stay on the ring, so that a drain changes nobody's preference; those that do not serve
 * yet, or no longer, would only lengthen the walk.
 */
const ON_RING: readonly InstanceState[] = ["ACTIVE", "CORDONED", "DRAINING"];

export function ringNodes(seats: readonly Pick<Seat, "id" | "state" | "weight">[]): readonly RingNode[] {
  return seats.filter(({ state }) => ON_RING.includes(state)).map(({ id, weight }) => ({ id, weight }));
}

/** Why a unit may not go to an instance under a bound; `undefined` when it may. */
export function whyNot(
  seat: Held,
  unit: Pick<PlacementQuestion["unit"], "load" | "wish">,
  bound: number,
  takesUnknown = false,
): Refusal | undefined {
  const ineligible = whyNotEligible(unit.wish ?? NO_WISH, seat, takesUnknown);
  if (ineligible !== undefined) return ineligible;
  const after = addLoad(seat.load, unit.load);
  const ceiling = ceilingOf(seat.capacity, bound);
  const full = LOAD_DIMENSIONS.filter((dimension) => after[dimension] > ceiling[dimension]);
  const worst = largest(full, (dimension) => shareOf(after[dimension], seat.capacity[dimension]));
  if (worst === undefined) return undefined;
  return { instance: seat.id, rule: "BOUND", dimension: worst, would: shareOf(after[worst], seat.capacity[worst]), limit: bound };
}

/** Utilisation of an instance in its fullest dimension with some load added. */
export function shareWith(seat: Held, load: LoadVector): number {
  return dominantShare(addLoad(seat.load, load), seat.capacity);
}

/** Mean utilisation of the class in its fullest dimension, over instances that take units. */
function meanUtilisation(seats: readonly Seat[]): number {
  const active = seats.filter((seat) => seat.state === "ACTIVE");
  return meanShare(
    active.map(({ load }) => load),
    active.map(({ capacity }) => capacity),
  );
}

function largest<T>(items: readonly T[], score: (item: T) => number): T | undefined {
  return items.reduce<T | undefined>((best, item) => (best === undefined || score(item) > score(best) ? item : best), undefined);
}
