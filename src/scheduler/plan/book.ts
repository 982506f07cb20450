import { sha256 } from "../../domain/hash.ts";
import { LOAD_DIMENSIONS, type LoadVector, loadVector } from "../../domain/load.ts";
import type { Room } from "../choose-seat.ts";
import { NO_WISH, type Offer, whyNotEligible } from "../eligibility.ts";
import { amountsOf, type Bundle, bundlesOf } from "./bundles.ts";
import { NOTHING, NOWHERE, openLedger } from "./ledger.ts";
import { type Limits, limitsOf } from "./limits.ts";
import type { PlannerPolicy } from "./planner-policy.ts";
import { inOrder, type PlanSeat, type PlanSnapshot, type PlanUnit } from "./snapshot.ts";

/**
 * The fleet while a plan is made: who is where, and what every instance would carry. It starts as the snapshot says and
 * changes with each move. Instances and bundles are known by their index in order of id.
 */
export interface Book {
  readonly seats: readonly PlanSeat[];
  readonly bundles: readonly Bundle[];
  readonly limits: Limits;
  readonly seatIndex: ReadonlyMap<string, number>;
  loadOf(seat: number): readonly number[];
  /** Load above a share of the capacity in one dimension; negative: what is missing up to there. */
  surplus(seat: number, dimension: number, share: number): number;
  capacityOf(seat: number): readonly number[];
  /** Utilisation of an instance in its fullest dimension, ppm. */
  share(seat: number): number;
  /** Where the bundle is now; NOWHERE also when its units are on several instances. */
  seatOf(bundle: Bundle): number;
  /** Where its units are, one for one. */
  seatsOf(bundle: Bundle): readonly number[];
  bundlesOn(seat: number): readonly Bundle[];
  /** Instances as the rule of placement sees them with this bundle in mind; the one at `except` admits nothing. */
  roomFor(bundle: Bundle, except?: number): Room;
  /** Whether the bundle may live on an instance at all, however full that is. */
  isEligible(bundle: Bundle, seat: number): boolean;
  /** An instance as eligibility sees it with this bundle in mind. */
  offer(seat: number, bundle: Bundle): Offer;
  /** Load of the instance without what the bundle has there. */
  loadWithout(seat: number, bundle: Bundle): readonly number[];
  move(bundle: Bundle, to: number): void;
}

export function openBook(snapshot: PlanSnapshot, policy: PlannerPolicy): Book {
  const seats = inOrder(snapshot.seats);
  const seatIndex = new Map<string, number>(seats.map(({ id }, index) => [id, index]));
  const bundles = bundlesOf(inOrder(withPresentLoad(snapshot.units, seats)), snapshot.at, policy);
  const where = bundles.map(({ units }) => units.map(({ owner }) => seatIndex.get(owner ?? "") ?? NOWHERE));
  const capacities = seats.map(({ capacity }) => amountsOf(capacity));
  const ledger = openLedger(capacities);
  const crowd = crowdOf();
  const residents: Bundle[][] = seats.map(() => []);
  /** Instances somebody left since their residents were last asked for. */
  const left = new Set<number>();
  const isOpen = seats.map((seat) => whyNotEligible(NO_WISH, seat) === undefined);
  const placesOf = (bundle: Bundle): readonly number[] => where[bundle.index] as readonly number[];

  const settle = (bundle: Bundle, sign: 1 | -1): void => {
    const places = placesOf(bundle);
    if (places.length === 1) ledger.add(places[0] as number, bundle.load, sign);
    else for (const [each, unit] of bundle.units.entries()) ledger.add(places[each] as number, amountsOf(unit.load), sign);
    crowd.change(bundle, places, sign);
  };
  const arrive = (bundle: Bundle): void => {
    const places = placesOf(bundle);
    for (const [each, seat] of places.entries()) if (places.indexOf(seat) === each) residents[seat]?.push(bundle);
  };
  for (const bundle of bundles) {
    settle(bundle, 1);
    arrive(bundle);
    for (const { movingTo, load } of bundle.units)
      if (movingTo !== undefined) ledger.add(seatIndex.get(movingTo) ?? NOWHERE, amountsOf(load), 1);
  }

  const missingOn = (bundle: Bundle, seat: number): readonly number[] => missing(bundle, placesOf(bundle), seat);
  const offer = (seat: number, bundle: Bundle): Offer => {
    const { id, state, traits } = seats[seat] as PlanSeat;
    const occupied = crowd.occupied(bundle, seat, placesOf(bundle));
    return traits === undefined ? { id, state, occupied } : { id, state, traits, occupied };
  };
  const isEligible = (bundle: Bundle, seat: number): boolean =>
    bundle.isPlain ? isOpen[seat] === true : whyNotEligible(bundle.wish, offer(seat, bundle)) === undefined;
  return {
    seats,
    bundles,
    seatIndex,
    limits: limitsOf({ seats, capacities, bundles, where }, policy),
    loadOf: ledger.loadOf,
    surplus: ledger.surplus,
    capacityOf: ledger.capacityOf,
    share: (seat) => ledger.shareWith(seat, NOTHING),
    seatsOf: placesOf,
    seatOf: (bundle) => theOne(placesOf(bundle)),
    bundlesOn: (seat) => {
      if (left.delete(seat)) residents[seat] = (residents[seat] ?? []).filter((bundle) => placesOf(bundle).includes(seat));
      return residents[seat] ?? [];
    },
    offer,
    isEligible,
    loadWithout: (seat, bundle) => {
      const more = missingOn(bundle, seat);
      return ledger.loadOf(seat).map((amount, d) => amount + (more[d] as number) - (bundle.load[d] as number));
    },
    roomFor: (bundle, except = NOWHERE) => ({
      size: seats.length,
      admits: (seat, bound) => seat !== except && ledger.fits(seat, missingOn(bundle, seat), bound) && isEligible(bundle, seat),
      shareWith: (seat) => ledger.shareWith(seat, missingOn(bundle, seat)),
      tie: (seat) => sha256(`${bundle.key}|${seats[seat]?.id}`),
    }),
    move: (bundle, to) => {
      settle(bundle, -1);
      for (const seat of placesOf(bundle)) left.add(seat);
      where[bundle.index] = bundle.units.map(() => to);
      settle(bundle, 1);
      if (residents[to]?.includes(bundle) !== true) residents[to]?.push(bundle);
    },
  };
}

/** On an instance that is overloaded, what its units do now counts: planning load has not seen it yet. */
function withPresentLoad(units: readonly PlanUnit[], seats: readonly PlanSeat[]): readonly PlanUnit[] {
  const hot = new Set(seats.filter(({ isOverloaded }) => isOverloaded).map(({ id }) => id));
  if (hot.size === 0) return units;
  return units.map((unit) =>
    unit.owner !== undefined && hot.has(unit.owner) && unit.recentLoad !== undefined
      ? { ...unit, load: largerLoad(unit.load, unit.recentLoad) }
      : unit,
  );
}

/** The larger of two in each dimension; a number that is none is not larger. */
function largerLoad(a: LoadVector, b: LoadVector): LoadVector {
  const [planned, present] = [amountsOf(a), amountsOf(b)];
  return loadVector((dimension) => {
    const d = LOAD_DIMENSIONS.indexOf(dimension);
    return Math.max(planned[d] as number, present[d] as number);
  });
}

/** What of a bundle's load an instance would have on top of what it has. */
function missing(bundle: Bundle, places: readonly number[], seat: number): readonly number[] {
  if (!places.includes(seat)) return bundle.load;
  const here = bundle.units.filter((_, each) => places[each] === seat).map(({ load }) => amountsOf(load));
  return here.reduce((rest, amounts) => rest.map((amount, d) => amount - (amounts[d] as number)), bundle.load);
}

function theOne(places: readonly number[]): number {
  const first = places[0] ?? NOWHERE;
  for (const seat of places) if (seat !== first) return NOWHERE;
  return first;
}

/** Which groups that live apart have members where. */
interface Crowd {
  /** The bundle's members came to (1) or left (-1) the instances of `places`, one for one. */
  change(bundle: Bundle, places: readonly number[], sign: 1 | -1): void;
  /** Groups of the bundle that have a member on the instance other than its own, which are on `places`. */
  occupied(bundle: Bundle, seat: number, places: readonly number[]): readonly string[];
}

const NONE: readonly string[] = [];

function crowdOf(): Crowd {
  /** By group and instance: how many bundles have members there. */
  const counts = new Map<string, Map<number, number>>();
  const countsOf = (group: string): Map<number, number> => {
    const known = counts.get(group) ?? new Map<number, number>();
    counts.set(group, known);
    return known;
  };
  return {
    change({ wish }, places, sign) {
      if (wish.apart.length === 0) return;
      for (const group of new Set(wish.apart)) {
        const each = countsOf(group);
        for (const seat of new Set(places)) each.set(seat, (each.get(seat) ?? 0) + sign);
      }
    },
    occupied({ wish }, seat, places) {
      if (wish.apart.length === 0) return NONE;
      const own = places.includes(seat) ? 1 : 0;
      return wish.apart.filter((group) => (counts.get(group)?.get(seat) ?? 0) > own);
    },
  };
}
