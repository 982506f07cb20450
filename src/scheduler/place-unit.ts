import { sha256 } from "../domain/hash.ts";
import type { InstanceId, UnitId } from "../domain/ids.ts";
import { type InstanceState, loadOn } from "../domain/instance.ts";
import { addLoad, LOAD_DIMENSIONS, type LoadDimension, type LoadVector } from "../domain/load.ts";
import { type CandidateSet, chooseCandidate } from "./choose-candidate.ts";
import { type Ineligible, NO_CONSTRAINTS, type Offer, type PlacementConstraints, whyNotEligible } from "./eligibility.ts";
import { buildRing, type RingNode } from "./hash-ring.ts";
import type { PlacementPolicy } from "./policy.ts";
import type { RingSource } from "./ring-memo.ts";
import { boundsOf, ceilingOf, dominantShare, meanShare, shareOf } from "./utilisation.ts";

/** An instance with its present load and its capacity. */
export interface LoadedInstance extends Offer {
  readonly load: LoadVector;
  readonly capacity: LoadVector;
}

/** An instance of the unit's class, as a candidate for a placement. */
export interface Candidate extends LoadedInstance {
  readonly name: string;
  readonly weight: number;
}

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
export function placeUnit(question: PlacementQuestion, ringOf: RingSource = buildRing): Placement {
  const { unit, policy } = question;
  const candidates = [...question.candidates].sort((a, b) => (a.id < b.id ? -1 : 1));
  const ring = ringOf(ringNodes(candidates));
  const indexOf = new Map<string, number>(candidates.map(({ id }, index) => [id, index]));
  const walk = ring.candidates(unit.id, policy.candidates).flatMap((id) => indexOf.get(id) ?? []);
  const mean = meanUtilisation(candidates);
  const refusal = (index: number, bound: number, takesUnknown: boolean): Refusal | undefined =>
    whyNot(candidates[index] as Candidate, unit, bound, takesUnknown);
  const candidateSetOf = (takesUnknown: boolean): CandidateSet => ({
    size: candidates.length,
    admits: (index, bound) => refusal(index, bound, takesUnknown) === undefined,
    shareWith: (index) => shareWith(candidates[index] as Candidate, unit.load),
    tie: (index) => sha256(`${unit.id}|${candidates[index]?.id}`),
  });
  const bounds = boundsOf(mean, policy);
  const choice = chooseCandidate(candidateSetOf(false), walk, bounds) ?? chooseCandidate(candidateSetOf(true), walk, bounds);
  const facts = { preferred: candidates[walk[0] ?? -1]?.id, ring: ring.version, mean };
  if (choice === undefined) {
    const others = candidates.flatMap((_, index) => (walk.includes(index) ? [] : [index]));
    const refusals = [...walk, ...others].slice(0, REFUSALS_KEPT).flatMap((index) => refusal(index, policy.hardLimit, true) ?? []);
    return { kind: "unplaceable", facts: { ...facts, bound: policy.hardLimit, refusals } };
  }
  const { rank, bound } = choice;
  const candidate = candidates[choice.candidate] as Candidate;
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
 * States of instances that are on the ring. One that is cordoned or drains stays on it, so that no other unit's
 * preferred instance changes. One that does not serve yet, or not any more, is left out: as a candidate it would only
 * be passed over.
 */
const ON_RING: readonly InstanceState[] = ["ACTIVE", "CORDONED", "DRAINING"];

/** The nodes from which the ring of these instances is built. */
export function ringNodes(candidates: readonly Pick<Candidate, "id" | "state" | "weight">[]): readonly RingNode[] {
  return candidates.filter(({ state }) => ON_RING.includes(state)).map(({ id, weight }) => ({ id, weight }));
}

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

/**
 * Mean utilisation of the class in its fullest dimension, in parts per million. Only ACTIVE instances count: the
 * others take no units.
 */
function meanUtilisation(candidates: readonly Candidate[]): number {
  const active = candidates.filter((candidate) => candidate.state === "ACTIVE");
  return meanShare(
    active.map(({ load }) => load),
    active.map(({ capacity }) => capacity),
  );
}

function largest<T>(items: readonly T[], score: (item: T) => number): T | undefined {
  return items.reduce<T | undefined>((best, item) => (best === undefined || score(item) > score(best) ? item : best), undefined);
}
