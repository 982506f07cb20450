import type { InstanceId, UnitId } from "../domain/ids.ts";
import { loadOn } from "../domain/instance.ts";
import { addLoad, LOAD_DIMENSIONS, type LoadDimension, type LoadVector } from "../domain/load.ts";
import type { Candidate, LoadedInstance } from "./candidate.ts";
import { type Choice, chooseCandidate } from "./choose-candidate.ts";
import { type Ineligible, NO_CONSTRAINTS, type PlacementConstraints, whyNotEligible } from "./eligibility.ts";
import { openPlacementFleet, type PlacementFleet, type SeekingUnit } from "./placement-fleet.ts";
import type { PlacementPolicy } from "./policy.ts";
import type { RingSource } from "./ring-memo.ts";
import { boundsOf, ceilingOf, dominantShare, shareOf } from "./utilisation.ts";

/**
 * Why an instance was passed over. `BOUND`: its `dimension` would be filled to `would`, and `limit` is allowed, both
 * in parts per million.
 */
export type Refusal =
  | Ineligible
  | {
      readonly instance: InstanceId;
      readonly rule: "BOUND";
      readonly dimension: LoadDimension;
      readonly would: number;
      readonly limit: number;
    };

/**
 * `PREFERRED`: the ring's first candidate. `SPILL`: a later one. `LEAST_LOADED`: no candidate fitted, so the least
 * loaded instance was taken.
 */
export type PlacementRule = "PREFERRED" | "SPILL" | "LEAST_LOADED";

export type Placement =
  | {
      readonly kind: "chosen";
      readonly instance: InstanceId;
      readonly rule: PlacementRule;
      /** Largest load that the instance may have, this unit included. */
      readonly ceiling: LoadVector;
      readonly facts: PlacementFacts;
    }
  | { readonly kind: "unplaceable"; readonly facts: PlacementFacts };

/** What the decision rested on. It is recorded, so that the decision can be checked later. */
export interface PlacementFacts {
  /** The ring's first candidate. */
  readonly preferred: InstanceId | undefined;
  /** Version of the ring. */
  readonly ring: string;
  /** Mean dominant utilisation of the class, and the bound the decision was made under, in parts per million. */
  readonly mean: number;
  readonly bound: number;
  /** Why the candidates before the chosen instance were passed over; where nothing fits, why each instance was, up to a limit. */
  readonly refusals: readonly Refusal[];
}

export interface PlacementQuestion {
  readonly unit: { readonly id: UnitId; readonly load: LoadVector; readonly constraints?: PlacementConstraints };
  /** All instances of the unit's class that are not retired, in any order. */
  readonly candidates: readonly Candidate[];
  readonly policy: PlacementPolicy;
}

/**
 * Decides which instance a unit without owner gets. Numbers below are those of `DEFAULT_POLICY`.
 *
 * 1. A hash ring orders the instances for this unit. The first eight are its candidates, and the very first is
 *    preferred.
 * 2. A bound limits how full an instance may be with the unit, in its fullest dimension. Three bounds are tried, the
 *    tightest first: 1.05 × the class's mean, 1.10 × the mean (both at least 0.60 and at most 0.90), and 0.90.
 * 3. Under each bound the first candidate that stays within it is taken. If none does, the least loaded instance that
 *    does is taken. Only if there is none either, the next bound is tried.
 * 4. If nothing fits under any bound, all of this is tried once more with instances whose health is unknown: they may
 *    well work.
 * 5. If still nothing fits, the unit is unplaceable.
 *
 * The order in which the instances are given does not matter, and ties are decided by a hash of unit and instance: the
 * same question always gets the same answer. `ringOf` may keep rings, to save time; the answer does not depend on that.
 */
export function placeUnit({ unit, candidates, policy }: PlacementQuestion, ringOf?: RingSource): Placement {
  return placeOn(openPlacementFleet(candidates, policy.hardLimit, ringOf), unit, policy);
}

/** The same, for one of many units on instances that were made ready for them. */
export function placeOn(fleet: PlacementFleet, unit: SeekingUnit, policy: PlacementPolicy): Placement {
  const walk = fleet.ring.candidates(unit.id, policy.candidates).flatMap((id) => fleet.indexOf(id) ?? []);
  const mean = fleet.mean();
  const refusal = (index: number, bound: number, takesUnknown: boolean): Refusal | undefined =>
    whyNot(fleet.candidate(index, unit.marks), unit, bound, takesUnknown);
  const choice = choose(fleet, unit, { walk, bounds: boundsOf(mean, policy) });
  const facts = { preferred: walk[0] === undefined ? undefined : fleet.candidate(walk[0]).id, ring: fleet.ring.version, mean };
  if (choice === undefined) {
    const refusals = shownOf(walk, fleet.size).flatMap((index) => refusal(index, policy.hardLimit, true) ?? []);
    return { kind: "unplaceable", facts: { ...facts, bound: policy.hardLimit, refusals } };
  }
  const { rank, bound } = choice;
  const candidate = fleet.candidate(choice.candidate);
  const takesUnknown = candidate.health === "unknown";
  const refusals = walk.slice(0, rank < 0 ? walk.length : rank).flatMap((index) => refusal(index, bound, takesUnknown) ?? []);
  return {
    kind: "chosen",
    instance: candidate.id,
    rule: ruleOf(rank),
    ceiling: ceilingOf(candidate.capacity, bound),
    facts: { ...facts, bound, refusals },
  };
}

interface Search {
  readonly walk: readonly number[];
  readonly bounds: readonly number[];
}

function choose(fleet: PlacementFleet, unit: SeekingUnit, { walk, bounds }: Search): Choice | undefined {
  if (fleet.isBeyondAll(unit.load)) return undefined;

  const choice = chooseCandidate(fleet.candidatesFor(unit, false), walk, bounds);
  return choice ?? (fleet.hasUnknown ? chooseCandidate(fleet.candidatesFor(unit, true), walk, bounds) : undefined);
}

/** Of the instances that do not fit, those that are recorded: the walk first. */
function shownOf(walk: readonly number[], size: number): readonly number[] {
  const shown = [...walk];
  for (let index = 0; index < size && shown.length < REFUSALS_KEPT; index += 1) if (!walk.includes(index)) shown.push(index);
  return shown.slice(0, REFUSALS_KEPT);
}

/**
 * The rule by which the instance was chosen. `rank`: its place among the candidates, from 0; -1: it was taken as the
 * least loaded.
 */
function ruleOf(rank: number): PlacementRule {
  if (rank === 0) return "PREFERRED";
  return rank < 0 ? "LEAST_LOADED" : "SPILL";
}

/** Where nothing fits, so many refusals are recorded at most: the journal of a large fleet has to stay readable. */
const REFUSALS_KEPT = 20;

/**
 * Why a unit may not go to an instance under a bound (in parts per million); `undefined` when it may. Room is checked
 * last, and of the dimensions that would be too full the fullest is named. `takesUnknown`: an instance whose health is
 * unknown is let pass. `units`: how many of them come together, one if absent.
 */
export function whyNot(
  candidate: LoadedInstance,
  unit: Pick<PlacementQuestion["unit"], "load" | "constraints"> & { readonly units?: number },
  bound: number,
  takesUnknown = false,
): Refusal | undefined {
  const ineligible = whyNotEligible(unit.constraints ?? NO_CONSTRAINTS, candidate, takesUnknown);
  if (ineligible !== undefined) return ineligible;
  const after = addLoad(candidate.load, loadOn(candidate, unit.load, unit.units));
  const ceiling = ceilingOf(candidate.capacity, bound);
  const full = LOAD_DIMENSIONS.filter((dimension) => after[dimension] > ceiling[dimension]);
  const worst = largest(full, (dimension) => shareOf(after[dimension], candidate.capacity[dimension]));
  if (worst === undefined) return undefined;
  return { instance: candidate.id, rule: "BOUND", dimension: worst, would: shareOf(after[worst], candidate.capacity[worst]), limit: bound };
}

/** Utilisation of an instance in its fullest dimension with `load` added, in parts per million. */
export function shareWith(candidate: LoadedInstance, load: LoadVector, units?: number): number {
  return dominantShare(addLoad(candidate.load, loadOn(candidate, load, units)), candidate.capacity);
}

function largest<T>(items: readonly T[], score: (item: T) => number): T | undefined {
  return items.reduce<T | undefined>((best, item) => (best === undefined || score(item) > score(best) ? item : best), undefined);
}
