import { sha256 } from "../../domain/hash.ts";
import { LOAD_DIMENSIONS, type LoadVector, loadVector } from "../../domain/load.ts";
import { complete, mapInTurns, type Resumable, visitInTurns } from "../../domain/resumable.ts";
import type { CandidateSet } from "../choose-candidate.ts";
import { NO_CONSTRAINTS, type Offer, whyNotEligible } from "../eligibility.ts";
import { type AffinityGroup, amountsOf, groupsInTurns } from "./affinity-groups.ts";
import { NOTHING, NOWHERE, openLedger } from "./ledger.ts";
import { type Limits, limitsInTurns } from "./limits.ts";
import type { PlannerPolicy } from "./planner-policy.ts";
import { inOrder, type PlanCandidate, type PlanSnapshot, type PlanUnit } from "./snapshot.ts";

/**
 * The fleet while a plan is made: who is where, and what every instance would carry. It starts as the snapshot says and
 * changes with each move. Instances and groups are known by their index in order of id.
 */
export interface Book {
  readonly candidates: readonly PlanCandidate[];
  readonly groups: readonly AffinityGroup[];
  readonly limits: Limits;
  readonly candidateIndex: ReadonlyMap<string, number>;
  loadOf(candidate: number): readonly number[];
  /** Load above a share of the capacity in one dimension; negative: what is missing up to there. */
  surplus(candidate: number, dimension: number, share: number): number;
  capacityOf(candidate: number): readonly number[];
  /** Utilisation of an instance in its fullest dimension, ppm. */
  share(candidate: number): number;
  /** Where the group is now; NOWHERE also when its units are on several instances. */
  placementOf(group: AffinityGroup): number;
  /** Where its units are, one for one. */
  placementsOf(group: AffinityGroup): readonly number[];
  groupsOn(candidate: number): readonly AffinityGroup[];
  /** The instances that this group can choose from; the one at `except` admits nothing. */
  candidatesFor(group: AffinityGroup, except?: number): CandidateSet;
  /** Whether the group may live on an instance at all, however full that is. */
  isEligible(group: AffinityGroup, candidate: number): boolean;
  /** The facts about an instance that decide whether it is eligible for this group. */
  offer(candidate: number, group: AffinityGroup): Offer;
  /** Load of the instance without what the group has there. */
  loadWithout(candidate: number, group: AffinityGroup): readonly number[];
  move(group: AffinityGroup, to: number): void;
}

export function openBook(snapshot: PlanSnapshot, policy: PlannerPolicy): Book {
  return complete(openBookInTurns(snapshot, policy));
}

/** The same, with pauses. */
export function* openBookInTurns(snapshot: PlanSnapshot, policy: PlannerPolicy): Resumable<Book> {
  const candidates = inOrder(snapshot.candidates);
  const candidateIndex = new Map<string, number>(candidates.map(({ id }, index) => [id, index]));
  const units = inOrder(yield* withPresentLoad(snapshot.units, candidates));
  const groups = yield* groupsInTurns(units, snapshot.at, policy);
  const where = [...(yield* mapInTurns(groups, ({ units: each }) => each.map(({ owner }) => candidateIndex.get(owner ?? "") ?? NOWHERE)))];
  const capacities = candidates.map(({ capacity }) => amountsOf(capacity));
  const ledger = openLedger(capacities);
  const hasOwnEntries = candidates.map(({ entries }) => entries === "per-workspace");
  /** What so many units with these amounts take of an instance: where each has a cluster entry, that too. */
  const takenOf = (candidate: number, amounts: readonly number[], units: number): readonly number[] =>
    hasOwnEntries[candidate] === true ? amounts.map((amount, d) => (d === ENTRIES ? amount + units : amount)) : amounts;
  const apartMembers = createApartMembers();
  const strangers = createStrangers();
  const residents: AffinityGroup[][] = candidates.map(() => []);
  /** Instances that a group left since their residents were last asked for. */
  const left = new Set<number>();
  const isOpen = candidates.map((candidate) => whyNotEligible(NO_CONSTRAINTS, candidate) === undefined);
  const placementsOf = (group: AffinityGroup): readonly number[] => where[group.index] as readonly number[];

  const addTaken = (candidate: number, amounts: readonly number[], sign: 1 | -1): void =>
    ledger.add(candidate, takenOf(candidate, amounts, 1), sign);
  const addToLedger = (group: AffinityGroup, sign: 1 | -1): void => {
    const places = placementsOf(group);
    if (places.length === 1) addTaken(places[0] as number, group.load, sign);
    else for (const [each, unit] of group.units.entries()) addTaken(places[each] as number, amountsOf(unit.load), sign);
    apartMembers.change(group, places, sign);
    strangers.change(group, places, sign);
  };
  const addToResidents = (group: AffinityGroup): void => {
    const places = placementsOf(group);
    for (const [each, candidate] of places.entries()) if (places.indexOf(candidate) === each) residents[candidate]?.push(group);
  };
  yield* visitInTurns(groups, (group) => {
    addToLedger(group, 1);
    addToResidents(group);
    for (const { movingTo, load } of group.units) {
      if (movingTo === undefined) continue;
      const arrives = candidateIndex.get(movingTo) ?? NOWHERE;
      addTaken(arrives, amountsOf(load), 1);
      strangers.change(group, [arrives], 1);
    }
  });
  const limits = yield* limitsInTurns({ candidates, capacities, groups, where }, policy);

  const missingOn = (group: AffinityGroup, candidate: number): readonly number[] => {
    const places = placementsOf(group);
    return takenOf(candidate, missing(group, places, candidate), places.filter((place) => place !== candidate).length);
  };
  const offer = (candidate: number, group: AffinityGroup): Offer => {
    const { id, state, entries, traits } = candidates[candidate] as PlanCandidate;
    const places = placementsOf(group);
    const occupied = apartMembers.occupied(group, candidate, places);
    const holds = strangers.holds(group, candidate, places);
    const own = { ...(entries === undefined ? {} : { entries }), ...(traits === undefined ? {} : { traits }) };
    return { id, state, ...own, occupied, ...(holds === undefined ? {} : { holds }) };
  };
  const isEligible = (group: AffinityGroup, candidate: number): boolean =>
    group.isPlain ? isOpen[candidate] === true : whyNotEligible(group.constraints, offer(candidate, group)) === undefined;
  return {
    candidates,
    groups,
    candidateIndex,
    limits,
    loadOf: ledger.loadOf,
    surplus: ledger.surplus,
    capacityOf: ledger.capacityOf,
    share: (candidate) => ledger.shareWith(candidate, NOTHING),
    placementsOf,
    placementOf: (group) => onlyPlacement(placementsOf(group)),
    groupsOn: (candidate) => {
      if (left.delete(candidate))
        residents[candidate] = (residents[candidate] ?? []).filter((group) => placementsOf(group).includes(candidate));
      return residents[candidate] ?? [];
    },
    offer,
    isEligible,
    loadWithout: (candidate, group) => {
      const more = missingOn(group, candidate);
      const all = takenOf(candidate, group.load, group.units.length);
      return ledger.loadOf(candidate).map((amount, d) => amount + (more[d] as number) - (all[d] as number));
    },
    candidatesFor: (group, except = NOWHERE) => ({
      size: candidates.length,
      admits: (candidate, bound) =>
        candidate !== except && ledger.fits(candidate, missingOn(group, candidate), bound) && isEligible(group, candidate),
      shareWith: (candidate) => ledger.shareWith(candidate, missingOn(group, candidate)),
      tie: (candidate) => sha256(`${group.key}|${candidates[candidate]?.id}`),
    }),
    move: (group, to) => {
      addToLedger(group, -1);
      for (const candidate of placementsOf(group)) left.add(candidate);
      where[group.index] = group.units.map(() => to);
      addToLedger(group, 1);
      if (residents[to]?.includes(group) !== true) residents[to]?.push(group);
    },
  };
}

const ENTRIES = LOAD_DIMENSIONS.indexOf("clusterEntries");

/** On an overloaded instance the present load of its units counts too: planning load has not followed yet. */
function* withPresentLoad(units: readonly PlanUnit[], candidates: readonly PlanCandidate[]): Resumable<readonly PlanUnit[]> {
  const hot = new Set(candidates.filter(({ isOverloaded }) => isOverloaded).map(({ id }) => id));
  if (hot.size === 0) return units;
  return yield* mapInTurns(units, (unit) =>
    unit.owner !== undefined && hot.has(unit.owner) && unit.recentLoad !== undefined
      ? { ...unit, load: largerLoad(unit.load, unit.recentLoad) }
      : unit,
  );
}

/** The larger of two in each dimension; what cannot be a load counts as zero. */
function largerLoad(a: LoadVector, b: LoadVector): LoadVector {
  const [planned, present] = [amountsOf(a), amountsOf(b)];
  return loadVector((dimension) => {
    const d = LOAD_DIMENSIONS.indexOf(dimension);
    return Math.max(planned[d] as number, present[d] as number);
  });
}

/** How much of a group's load an instance would get on top of what it has. */
function missing(group: AffinityGroup, places: readonly number[], candidate: number): readonly number[] {
  if (!places.includes(candidate)) return group.load;
  const here = group.units.filter((_, each) => places[each] === candidate).map(({ load }) => amountsOf(load));
  return here.reduce((rest, amounts) => rest.map((amount, d) => amount - (amounts[d] as number)), group.load);
}

function onlyPlacement(places: readonly number[]): number {
  const first = places[0] ?? NOWHERE;
  for (const candidate of places) if (candidate !== first) return NOWHERE;
  return first;
}

/** Where the groups that live apart have members. */
interface ApartMembers {
  /** The group's members came to (1) or left (-1) the instances of `places`, one for one. */
  change(group: AffinityGroup, places: readonly number[], sign: 1 | -1): void;
  /** The `apart` groups of the group that have a member on the instance besides its own, which are on `places`. */
  occupied(group: AffinityGroup, candidate: number, places: readonly number[]): readonly string[];
}

const NONE: readonly string[] = [];

function createApartMembers(): ApartMembers {
  /** By `apart` group and instance: how many affinity groups have members there. */
  const counts = new Map<string, Map<number, number>>();
  const countsOf = (group: string): Map<number, number> => {
    const known = counts.get(group) ?? new Map<number, number>();
    counts.set(group, known);
    return known;
  };
  return {
    change({ constraints }, places, sign) {
      if (constraints.apart.length === 0) return;
      for (const group of new Set(constraints.apart)) {
        const each = countsOf(group);
        for (const candidate of new Set(places)) each.set(candidate, (each.get(candidate) ?? 0) + sign);
      }
    },
    occupied({ constraints }, candidate, places) {
      if (constraints.apart.length === 0) return NONE;
      const own = places.includes(candidate) ? 1 : 0;
      return constraints.apart.filter((group) => (counts.get(group)?.get(candidate) ?? 0) > own);
    },
  };
}

/** Where workspaces are that must be apart from those of other values of a label. */
interface Strangers {
  /** The group's members came to (1) or left (-1) the instances of `places`. */
  change(group: AffinityGroup, places: readonly number[], sign: 1 | -1): void;
  /**
   * The values of the group's labels on an instance, by label; `undefined`: it has no label. Of a label of which the group, which lives there, has the value that
   * most have who are there, only its own: the others leave, and it stays.
   */
  holds(group: AffinityGroup, candidate: number, places: readonly number[]): Offer["holds"];
}

function createStrangers(): Strangers {
  /** By instance, label and value: how many have come there. */
  const counts = new Map<number, Map<string, Map<string, number>>>();
  const valuesOn = (candidate: number, label: string): Map<string, number> => {
    const labels = counts.get(candidate) ?? new Map<string, Map<string, number>>();
    counts.set(candidate, labels);
    const values = labels.get(label) ?? new Map<string, number>();
    labels.set(label, values);
    return values;
  };
  return {
    change({ isPlain, constraints }, places, sign) {
      if (isPlain) return;
      for (const [label, value] of labelsOf(constraints)) {
        for (const candidate of new Set(places)) {
          const values = valuesOn(candidate, label);
          const left = (values.get(value) ?? 0) + sign;
          if (left === 0) values.delete(value);
          else values.set(value, left);
        }
      }
    },
    holds({ isPlain, constraints }, candidate, places) {
      const labels = isPlain ? [] : labelsOf(constraints);
      if (labels.length === 0) return undefined;
      const livesHere = places.every((place) => place === candidate);
      return Object.fromEntries(
        labels.map(([label, own]) => {
          const values = [...valuesOn(candidate, label)].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).map(([value]) => value);
          return [label, livesHere && values[0] === own ? [own] : values];
        }),
      );
    },
  };
}

function labelsOf({ needs }: AffinityGroup["constraints"]): readonly (readonly [label: string, value: string])[] {
  return Object.entries(needs.find(({ apartBy }) => apartBy !== undefined)?.apartBy ?? {});
}
