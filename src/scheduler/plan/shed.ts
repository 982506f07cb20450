import type { InstanceId } from "../../domain/ids.ts";
import { WHOLE } from "../policy.ts";
import type { Bundle } from "./bundles.ts";
import { cover, fewestFor } from "./cover.ts";
import { persistenceOf } from "./persistence.ts";
import { asVector, commit, findSeat, movableOn, noteBrake, type Planning } from "./planning.ts";
import type { Cause } from "./record.ts";
import type { Excess, Relief } from "./relief.ts";
import { swapOnce } from "./swap.ts";

/** Helps instances whose health verdict says that they are overloaded now, then those that have long been above the bound. */
export function planRelief(planning: Planning): void {
  for (const reliefs of [hotReliefs(planning), skewReliefs(planning)]) {
    const open = reliefs.filter((relief) => isOpen(planning, relief));
    const spares = sparesOf(planning, open);
    for (const relief of open) relieve(planning, relief, spares.get(relief) ?? { left: 0 });
  }
}

function isOpen(planning: Planning, { urgency }: Relief): boolean {
  const gate = planning.budget.gate(urgency);
  if (gate !== undefined) noteBrake(planning, gate);
  return gate === undefined;
}

/** Moves beyond the fewest that suffice, which an instance may still make. */
interface Spare {
  left: number;
}

/**
 * An instance that sheds alone takes whatever is cheapest. Where several do, or one is overloaded, moves are held near the fewest: they
 * wait for each other, and relief is there when the last has ended. What there is beyond the fewest goes where it saves most load.
 */
function sparesOf(planning: Planning, reliefs: readonly Relief[]): ReadonlyMap<Relief, Spare> {
  if (reliefs.length === 1 && reliefs[0]?.urgency === "voluntary") return new Map([[reliefs[0], { left: Number.POSITIVE_INFINITY }]]);
  const needs = reliefs.flatMap((relief) => {
    const excess = worstExcess(planning, relief);
    if (excess === undefined) return [];
    const amounts = amountsIn(movableOn(planning, relief.seat, relief.urgency), excess);
    return [{ relief, excess, amounts, least: fewestFor(amounts, excess.amount) }];
  });
  const least = needs.reduce((sum, need) => sum + need.least, 0);
  const spare = Math.max(1, Math.floor((least * planning.policy.spareMoves) / WHOLE));
  const wishes = needs.map(({ relief, excess: { dimension, amount }, amounts, least: few }) => {
    const fixedCost = fixedCostIn(planning, dimension);
    const [held, free] = [few, few + spare].map((most) => cover(amounts, amount, { fixedCost, most })) as [
      readonly number[],
      readonly number[],
    ];
    return { relief, more: free.length - few, saved: sumOf(amounts, held) - sumOf(amounts, free) };
  });
  let left = spare;
  const spares = new Map<Relief, Spare>();
  for (const { relief, more } of wishes.sort((a, b) => b.saved - a.saved || a.relief.seat - b.relief.seat)) {
    const given = Math.max(0, Math.min(left, more));
    spares.set(relief, { left: given });
    left -= given;
  }
  return spares;
}

function sumOf(amounts: readonly number[], indexes: readonly number[]): number {
  return indexes.reduce((sum, index) => sum + (amounts[index] as number), 0);
}

/** What a move costs beside its load in one dimension. */
function fixedCostIn({ book, policy }: Planning, dimension: number): number {
  return Math.floor(((book.limits.meanUnit[dimension] as number) * policy.moveCost) / WHOLE);
}

function amountsIn(bundles: readonly Bundle[], { dimension }: Excess): readonly number[] {
  return bundles.map(({ load }) => load[dimension] as number).sort((a, b) => a - b);
}

/**
 * An overloaded instance comes down to the bound, by its load of the last ten minutes. Where that is below the bound already, its
 * capacity is less than was believed, and a fixed part of what it carries leaves.
 */
function hotReliefs({ book, policy }: Planning): readonly Relief[] {
  const { bound, shedTo } = book.limits;
  const hot = worstFirst(book, ({ isOverloaded }) => isOverloaded);
  return hot.map((seat) => {
    const share = book.share(seat);
    const target = share > bound ? bound : Math.floor((share * (WHOLE - policy.hotRelief)) / WHOLE);
    const cause: Cause = { rule: "OVERLOADED", ...evidence(book, seat), share, limit: target };
    return { seat, urgency: "hot", reason: "HOT", target, bounds: [...new Set([shedTo, bound])], cause };
  });
}

function skewReliefs(planning: Planning): readonly Relief[] {
  const { book, policy, snapshot } = planning;
  const { mean, bound, shedTo } = book.limits;
  const roomy = policy.shedInto.map((factor) => Math.min(shedTo, Math.floor((mean * factor) / WHOLE)));
  const above = worstFirst(book, ({ isOverloaded }, seat) => !isOverloaded && book.share(seat) > bound);
  return above.flatMap((seat) => {
    const { id, aboveSince } = book.seats[seat] as Planning["book"]["seats"][number];
    const forMs = aboveSince === undefined ? 0 : snapshot.at - aboveSince;
    const persistMs = persistenceOf(book.share(seat), book.limits, policy);
    if (forMs < persistMs) {
      noteBrake(planning, { brake: "PERSISTENCE", instance: id, forMs, persistMs });
      return [];
    }
    const cause: Cause = { rule: "ABOVE", ...evidence(book, seat), share: book.share(seat), limit: bound, forMs, persistMs };
    return [{ seat, urgency: "voluntary", reason: "SHED", target: shedTo, bounds: [...new Set([...roomy, shedTo])], cause } as const];
  });
}

function worstFirst(
  book: Planning["book"],
  isMeant: (seat: Planning["book"]["seats"][number], index: number) => boolean,
): readonly number[] {
  const meant = book.seats.flatMap((seat, index) =>
    (seat.state === "ACTIVE" || seat.state === "CORDONED") && isMeant(seat, index) ? [{ index, share: book.share(index) }] : [],
  );
  return meant.sort((a, b) => b.share - a.share || a.index - b.index).map(({ index }) => index);
}

function evidence(book: Planning["book"], seat: number) {
  const instance = book.seats[seat]?.id as InstanceId;
  return { instance, load: asVector(book.loadOf(seat)), capacity: asVector(book.capacityOf(seat)) };
}

/**
 * Takes a cheap subset of the instance's units that brings it to its target and gives each a seat. What finds none, or runs
 * into a brake, is left out and the rest is covered anew. When no single unit can leave any more, two units change places.
 */
function relieve(planning: Planning, relief: Relief, spare: Spare): void {
  const stuck = new Set<Bundle>();
  for (;;) {
    const excess = worstExcess(planning, relief);
    if (excess === undefined) return;
    const spent = planning.budget.spent(relief.urgency);
    if (spent !== undefined) return noteBrake(planning, spent);
    const leaving = cheapest(planning, relief, { ...excess, stuck, spare });
    if (leaving.length > 0) for (const bundle of leaving) sendAway(planning, relief, { bundle, stuck });
    else if (planning.book.share(relief.seat) <= planning.book.limits.bound || !swapOnce(planning, relief, excess)) return;
  }
}

/** The dimension in which the instance is fullest above its target, and by how much. */
function worstExcess({ book }: Planning, { seat, target }: Relief): Excess | undefined {
  const [load, capacity] = [book.loadOf(seat), book.capacityOf(seat)];
  const over = load.map((amount, dimension) => {
    const limit = Math.floor(((capacity[dimension] as number) * target) / WHOLE);
    return { dimension, amount: amount - limit, weight: (amount - limit) / Math.max(1, limit) };
  });
  const worst = over.filter(({ amount }) => amount > 0).sort((a, b) => b.weight - a.weight || a.dimension - b.dimension)[0];
  return worst;
}

interface Leaving extends Excess {
  readonly stuck: ReadonlySet<Bundle>;
  readonly spare: Spare;
}

function cheapest(planning: Planning, { seat, urgency }: Relief, { dimension, amount, stuck, spare }: Leaving): readonly Bundle[] {
  const amountOf = (bundle: Bundle): number => bundle.load[dimension] as number;
  const movable = movableOn(planning, seat, urgency).filter((bundle) => !stuck.has(bundle) && amountOf(bundle) > 0);
  const room = new Map<Bundle, string>();
  const tie = (bundle: Bundle): string => {
    const known = room.get(bundle) ?? planning.book.roomFor(bundle).tie(seat);
    room.set(bundle, known);
    return known;
  };
  const sorted = [...movable].sort((a, b) => amountOf(a) - amountOf(b) || (tie(a) < tie(b) ? -1 : 1));
  const amounts = sorted.map(amountOf);
  const least = fewestFor(amounts, amount);
  const chosen = cover(amounts, amount, { fixedCost: fixedCostIn(planning, dimension), most: least + spare.left });
  spare.left -= Math.max(0, chosen.length - least);
  return chosen.map((index) => sorted[index] as Bundle);
}

interface Departure {
  readonly bundle: Bundle;
  readonly stuck: Set<Bundle>;
}

function sendAway(planning: Planning, { seat, urgency, reason, bounds, cause }: Relief, { bundle, stuck }: Departure): void {
  const found = findSeat(planning, { bundle, cause, reason, bounds, except: seat });
  if (found === undefined) return void stuck.add(bundle);
  const asked = [{ units: bundle.units, from: idOf(planning, seat), to: idOf(planning, found.to) }];
  const brake = planning.budget.whyNot(asked, urgency);
  if (brake !== undefined) {
    noteBrake(planning, brake);
    return void stuck.add(bundle);
  }
  planning.budget.spend(asked);
  commit(planning, found);
}

function idOf({ book }: Planning, seat: number): InstanceId {
  return book.seats[seat]?.id as InstanceId;
}
