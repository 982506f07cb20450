import type { InstanceId } from "../../domain/ids.ts";
import { WHOLE } from "../policy.ts";
import type { Bundle } from "./bundles.ts";
import { commit, movableOn, nameSeat, noteBrake, type Planning } from "./planning.ts";
import type { Excess, Relief } from "./relief.ts";

interface Exchange {
  readonly leaves: Bundle;
  readonly comes: Bundle;
  readonly partner: number;
  /** What the full instance gets rid of, in the dimension in question. */
  readonly gain: number;
  readonly cost: number;
}

/**
 * Lets one unit of a full instance change places with a smaller one of a less loaded instance, where no unit could leave
 * alone. The cheapest exchange that removes the whole excess is made, else the one that removes most. Whoever can move into
 * its new instance first, while both are there, does. Returns whether an exchange was made.
 */
export function swapOnce(planning: Planning, relief: Relief, excess: Excess): boolean {
  const exchange = bestExchange(planning, relief, excess);
  if (exchange === undefined) return false;
  const { leaves, comes, partner } = exchange;
  const { book, budget } = planning;
  const [here, there] = [book.seats[relief.seat]?.id as InstanceId, book.seats[partner]?.id as InstanceId];
  const asked = [
    { units: leaves.units, from: here, to: there },
    { units: comes.units, from: there, to: here },
  ];
  const brake = budget.whyNot(asked, relief.urgency);
  if (brake !== undefined) {
    noteBrake(planning, brake);
    return false;
  }
  budget.spend(asked);
  const steps = [
    { bundle: leaves, except: relief.seat, to: partner },
    { bundle: comes, except: partner, to: relief.seat },
  ];
  const isLeavingFirst = book.roomFor(leaves).admits(partner, book.limits.hard);
  for (const { bundle, except, to } of isLeavingFirst ? steps : steps.toReversed())
    commit(planning, nameSeat(planning, { bundle, except, cause: relief.cause, reason: "SWAP", bounds: [book.limits.hard] }, to));
  return true;
}

function bestExchange(planning: Planning, relief: Relief, excess: Excess): Exchange | undefined {
  const leaving = movableOn(planning, relief.seat, relief.urgency);
  const found = leastLoaded(planning, relief.seat).flatMap((partner) => {
    const coming = movableOn(planning, partner, relief.urgency);
    return leaving.flatMap((leaves) => coming.flatMap((comes) => exchangeOf(planning, { relief, excess, leaves, comes, partner }) ?? []));
  });
  return found.sort((a, b) => compare(a, b, excess))[0];
}

function compare(a: Exchange, b: Exchange, { amount }: Excess): number {
  const [coversA, coversB] = [a.gain >= amount, b.gain >= amount];
  if (coversA !== coversB) return coversA ? -1 : 1;
  const better = coversA ? a.cost - b.cost : b.gain - a.gain;
  return better || a.cost - b.cost || (`${a.leaves.key} ${a.comes.key}` < `${b.leaves.key} ${b.comes.key}` ? -1 : 1);
}

interface Pairing {
  readonly relief: Relief;
  readonly excess: Excess;
  readonly leaves: Bundle;
  readonly comes: Bundle;
  readonly partner: number;
}

function exchangeOf(planning: Planning, { relief, excess, leaves, comes, partner }: Pairing): Exchange | undefined {
  const [out, back] = [leaves.load[excess.dimension] as number, comes.load[excess.dimension] as number];
  if (out <= back) return undefined;
  const { book } = planning;
  const limit = Math.max(...relief.bounds);
  const after = (seat: number, plus: Bundle, minus: Bundle): boolean =>
    book.loadOf(seat).every((amount, d) => {
      const would = amount + (plus.load[d] as number) - (minus.load[d] as number);
      return would <= amount || would * WHOLE <= (book.capacityOf(seat)[d] as number) * limit;
    });
  if (!after(partner, leaves, comes) || !after(relief.seat, comes, leaves)) return undefined;
  // The second of the two has to wait for room only: nothing else that keeps it away ends when the first one leaves.
  if (!book.isEligible(leaves, partner) || !book.isEligible(comes, relief.seat)) return undefined;
  const [first, second] = [
    book.roomFor(leaves).admits(partner, book.limits.hard),
    book.roomFor(comes).admits(relief.seat, book.limits.hard),
  ];
  if (!first && !second) return undefined;
  return { leaves, comes, partner, gain: out - back, cost: out + back };
}

function leastLoaded({ book, policy }: Planning, except: number): readonly number[] {
  const seats = book.seats.flatMap(({ state }, seat) => (state === "ACTIVE" && seat !== except ? [{ seat, share: book.share(seat) }] : []));
  return seats
    .sort((a, b) => a.share - b.share || a.seat - b.seat)
    .slice(0, policy.swapTargets)
    .map(({ seat }) => seat);
}
