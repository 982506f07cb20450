import type { InstanceId } from "../../domain/ids.ts";
import type { MoveReason } from "../../domain/plan.ts";
import type { Resumable } from "../../domain/resumable.ts";
import { WHOLE } from "../policy.ts";
import type { AffinityGroup } from "./affinity-groups.ts";
import type { Urgency } from "./budget.ts";
import { cover, fewestFor } from "./cover.ts";
import { persistenceOf } from "./limits.ts";
import { asVector, commit, findCandidate, movableOn, nameCandidate, noteBlockedBy, type Planning } from "./planning.ts";
import type { Cause } from "./record.ts";

/** An instance that is too full, and how far it should come down. */
interface Relief {
  readonly candidate: number;
  readonly urgency: Urgency;
  readonly reason: MoveReason;
  /** Utilisation to come down to, ppm. */
  readonly target: number;
  /** Bounds for where its units go, in the order they are tried. */
  readonly bounds: readonly number[];
  readonly cause: Cause;
}

/** The dimension in which an instance is fullest above its target, and by how much. */
interface Excess {
  readonly dimension: number;
  readonly amount: number;
}

/**
 * Plans moves away from instances that are too full: first from those that are overloaded now by their health verdict
 * (hot), then from those that have been above the bound for long (voluntary). It keeps to the budget, and writes moves
 * and reasons to `planning`.
 */
export function* planReliefInTurns(planning: Planning): Resumable<void> {
  for (const reliefs of [hotReliefs(planning), skewReliefs(planning)]) {
    const open = reliefs.filter((relief) => isOpen(planning, relief));
    const spares = yield* sparesOf(planning, open);
    for (const relief of open) yield* relieve(planning, relief, spares.get(relief) ?? { left: 0 });
  }
}

/** Whether moves of this urgency may be planned at all. If not, it notes what they are blocked by. */
function isOpen(planning: Planning, { urgency }: Relief): boolean {
  const gate = planning.budget.gate(urgency);
  if (gate !== undefined) noteBlockedBy(planning, gate);
  return gate === undefined;
}

/** What an instance should shed, what could leave it, and the fewest moves that suffice. */
interface Need {
  readonly relief: Relief;
  readonly excess: Excess;
  /** Smallest first. */
  readonly amounts: readonly number[];
  readonly least: number;
}

/** How many moves an instance may still make beyond the fewest that suffice. */
interface Spare {
  left: number;
}

/**
 * Decides how many moves beyond the fewest that suffice each instance may make. Many small moves fit an excess more
 * closely than a few large ones, so that less load is moved; but moves wait for each other, and an instance is relieved
 * only when its last move has ended.
 *
 * An instance that sheds alone and is not overloaded may make any number. Otherwise all instances together get
 * `spareMoves` of the sum of their fewest, and at least one. These are given first to the instance where they save most
 * load.
 */
function* sparesOf(planning: Planning, reliefs: readonly Relief[]): Resumable<ReadonlyMap<Relief, Spare>> {
  if (reliefs.length === 1 && reliefs[0]?.urgency === "voluntary") return new Map([[reliefs[0], { left: Number.POSITIVE_INFINITY }]]);
  const needs: Need[] = [];
  for (const relief of reliefs) {
    yield;
    const excess = worstExcess(planning, relief);
    if (excess === undefined) continue;
    const amounts = amountsIn(movableOn(planning, relief.candidate, relief.urgency), excess);
    needs.push({ relief, excess, amounts, least: fewestFor(amounts, excess.amount) });
  }
  const least = needs.reduce((sum, need) => sum + need.least, 0);
  const spare = Math.max(1, Math.floor((least * planning.policy.spareMoves) / WHOLE));
  const requests: { readonly relief: Relief; readonly more: number; readonly saved: number }[] = [];
  for (const { relief, excess, amounts, least: few } of needs) {
    yield;
    const { dimension, amount } = excess;
    const fixedCost = fixedCostIn(planning, dimension);
    const [held, free] = [few, few + spare].map((most) => cover(amounts, amount, { fixedCost, most })) as [
      readonly number[],
      readonly number[],
    ];
    requests.push({ relief, more: free.length - few, saved: sumOf(amounts, held) - sumOf(amounts, free) });
  }
  let left = spare;
  const spares = new Map<Relief, Spare>();
  for (const { relief, more } of requests.sort((a, b) => b.saved - a.saved || a.relief.candidate - b.relief.candidate)) {
    const given = Math.max(0, Math.min(left, more));
    spares.set(relief, { left: given });
    left -= given;
  }
  return spares;
}

function sumOf(amounts: readonly number[], indexes: readonly number[]): number {
  return indexes.reduce((sum, index) => sum + (amounts[index] as number), 0);
}

/** What each move costs besides the load that it moves, as a load in one dimension: the share `moveCost` of the mean unit's. */
function fixedCostIn({ book, policy }: Planning, dimension: number): number {
  return Math.floor(((book.limits.meanUnit[dimension] as number) * policy.moveCost) / WHOLE);
}

/** Loads in the dimension of the excess, smallest first, as `cover` needs them. */
function amountsIn(groups: readonly AffinityGroup[], { dimension }: Excess): readonly number[] {
  return groups.map(({ load }) => load[dimension] as number).sort((a, b) => a - b);
}

/**
 * What overloaded instances are to shed, the fullest first. Their load is that of the last ten minutes. One that is
 * above the bound comes down to the bound. One that is overloaded below the bound has less capacity than was believed:
 * the share `hotRelief` of its load leaves.
 */
function hotReliefs({ book, policy }: Planning): readonly Relief[] {
  const { bound, shedTo } = book.limits;
  const hot = worstFirst(book, ({ isOverloaded }) => isOverloaded);
  return hot.map((candidate) => {
    const share = book.share(candidate);
    const target = share > bound ? bound : Math.floor((share * (WHOLE - policy.hotRelief)) / WHOLE);
    const cause: Cause = { rule: "OVERLOADED", ...evidence(book, candidate), share, limit: target };
    return { candidate, urgency: "hot", reason: "HOT", target, bounds: [...new Set([shedTo, bound])], cause };
  });
}

/**
 * What instances that are above the bound, but not overloaded, are to shed, the fullest first. They come down to
 * `shedTo`. One that has not been above the bound for long enough sheds nothing yet, which is noted. Units go first to
 * instances with room to spare (`shedInto`).
 */
function skewReliefs(planning: Planning): readonly Relief[] {
  const { book, policy, snapshot } = planning;
  const { mean, bound, shedTo } = book.limits;
  const roomy = policy.shedInto.map((factor) => Math.min(shedTo, Math.floor((mean * factor) / WHOLE)));
  const above = worstFirst(book, ({ isOverloaded }, candidate) => !isOverloaded && book.share(candidate) > bound);
  return above.flatMap((candidate) => {
    const { id, aboveSince } = book.candidates[candidate] as Planning["book"]["candidates"][number];
    const forMs = aboveSince === undefined ? 0 : snapshot.at - aboveSince;
    const persistMs = persistenceOf(book.share(candidate), book.limits, policy);
    if (forMs < persistMs) {
      noteBlockedBy(planning, { rule: "PERSISTENCE", instance: id, forMs, persistMs });
      return [];
    }
    const cause: Cause = { rule: "ABOVE", ...evidence(book, candidate), share: book.share(candidate), limit: bound, forMs, persistMs };
    return [{ candidate, urgency: "voluntary", reason: "SHED", target: shedTo, bounds: [...new Set([...roomy, shedTo])], cause } as const];
  });
}

/** Indexes of the instances that are meant, the fullest first. Only ACTIVE and CORDONED ones shed. */
function worstFirst(
  book: Planning["book"],
  isMeant: (candidate: Planning["book"]["candidates"][number], index: number) => boolean,
): readonly number[] {
  const meant = book.candidates.flatMap((candidate, index) =>
    (candidate.state === "ACTIVE" || candidate.state === "CORDONED") && isMeant(candidate, index)
      ? [{ index, share: book.share(index) }]
      : [],
  );
  return meant.sort((a, b) => b.share - a.share || a.index - b.index).map(({ index }) => index);
}

function evidence(book: Planning["book"], candidate: number) {
  const instance = book.candidates[candidate]?.id as InstanceId;
  return { instance, load: asVector(book.loadOf(candidate)), capacity: asVector(book.capacityOf(candidate)) };
}

/**
 * Plans moves until an instance is down to its target, the budget is used up, or nothing more can leave.
 *
 * Each round selects a cheap set of units that covers the excess, and finds an instance for each of them. A unit for
 * which there is none, or whose move is blocked by the budget, is left out (`stuck`), and the next round selects anew.
 * When no unit can leave alone and the instance is still above the bound, one changes places with a smaller unit of
 * another instance.
 */
function* relieve(planning: Planning, relief: Relief, spare: Spare): Resumable<void> {
  const stuck = new Set<AffinityGroup>();
  for (;;) {
    yield;
    const excess = worstExcess(planning, relief);
    if (excess === undefined) return;
    const spent = planning.budget.spent(relief.urgency);
    if (spent !== undefined) return noteBlockedBy(planning, spent);
    const leaving = cheapest(planning, relief, { ...excess, stuck, spare });
    for (const group of leaving) {
      yield;
      sendAway(planning, relief, { group, stuck });
    }
    if (leaving.length > 0) continue;
    if (planning.book.share(relief.candidate) <= planning.book.limits.bound || !(yield* swapOnce(planning, relief, excess))) return;
  }
}

/** The dimension that exceeds its target by the largest share of it, and by how much; `undefined`: none exceeds it. */
function worstExcess({ book }: Planning, { candidate, target }: Relief): Excess | undefined {
  const [load, capacity] = [book.loadOf(candidate), book.capacityOf(candidate)];
  const over = load.map((amount, dimension) => {
    const limit = Math.floor(((capacity[dimension] as number) * target) / WHOLE);
    return { dimension, amount: amount - limit, weight: (amount - limit) / Math.max(1, limit) };
  });
  const worst = over.filter(({ amount }) => amount > 0).sort((a, b) => b.weight - a.weight || a.dimension - b.dimension)[0];
  return worst;
}

interface Leaving extends Excess {
  readonly stuck: ReadonlySet<AffinityGroup>;
  readonly spare: Spare;
}

/** Selects the groups that are to leave for one excess, at the least cost, and takes what they need from the spare moves. */
function cheapest(
  planning: Planning,
  { candidate, urgency }: Relief,
  { dimension, amount, stuck, spare }: Leaving,
): readonly AffinityGroup[] {
  const amountOf = (group: AffinityGroup): number => group.load[dimension] as number;
  const movable = movableOn(planning, candidate, urgency).filter((group) => !stuck.has(group) && amountOf(group) > 0);
  const ties = new Map<AffinityGroup, string>();
  const tie = (group: AffinityGroup): string => {
    const known = ties.get(group) ?? planning.book.candidatesFor(group).tie(candidate);
    ties.set(group, known);
    return known;
  };
  const sorted = [...movable].sort((a, b) => amountOf(a) - amountOf(b) || (tie(a) < tie(b) ? -1 : 1));
  const amounts = sorted.map(amountOf);
  const least = fewestFor(amounts, amount);
  const chosen = cover(amounts, amount, { fixedCost: fixedCostIn(planning, dimension), most: least + spare.left });
  spare.left -= Math.max(0, chosen.length - least);
  return chosen.map((index) => sorted[index] as AffinityGroup);
}

interface Departure {
  readonly group: AffinityGroup;
  readonly stuck: Set<AffinityGroup>;
}

/** Plans the move of one group; `stuck` if there is no instance for it, or the budget blocks it. */
function sendAway(planning: Planning, { candidate, urgency, reason, bounds, cause }: Relief, { group, stuck }: Departure): void {
  const found = findCandidate(planning, { group, cause, reason, bounds, except: candidate });
  if (found === undefined) return void stuck.add(group);
  const asked = [{ units: group.units, from: idOf(planning, candidate), to: idOf(planning, found.to) }];
  const blockedBy = planning.budget.whyNot(asked, urgency);
  if (blockedBy !== undefined) {
    noteBlockedBy(planning, blockedBy);
    return void stuck.add(group);
  }
  planning.budget.spend(asked);
  commit(planning, found);
}

function idOf({ book }: Planning, candidate: number): InstanceId {
  return book.candidates[candidate]?.id as InstanceId;
}

interface Exchange {
  readonly leaves: AffinityGroup;
  readonly comes: AffinityGroup;
  readonly partner: number;
  /** What the full instance gets rid of, in the dimension in question. */
  readonly gain: number;
  readonly cost: number;
}

/**
 * Lets one unit of a full instance change places with a smaller one of a less loaded instance, where no unit could leave
 * alone. The cheapest exchange that removes the whole excess is made, else the one that removes most. The one that fits into
 * its new instance while both are there moves first. Returns whether an exchange was made.
 */
function* swapOnce(planning: Planning, relief: Relief, excess: Excess): Resumable<boolean> {
  const exchange = yield* bestExchange(planning, relief, excess);
  if (exchange === undefined) return false;
  const { leaves, comes, partner } = exchange;
  const { book, budget } = planning;
  const [here, there] = [book.candidates[relief.candidate]?.id as InstanceId, book.candidates[partner]?.id as InstanceId];
  const asked = [
    { units: leaves.units, from: here, to: there },
    { units: comes.units, from: there, to: here },
  ];
  const blockedBy = budget.whyNot(asked, relief.urgency);
  if (blockedBy !== undefined) {
    noteBlockedBy(planning, blockedBy);
    return false;
  }
  budget.spend(asked);
  const steps = [
    { group: leaves, except: relief.candidate, to: partner },
    { group: comes, except: partner, to: relief.candidate },
  ];
  const isLeavingFirst = book.candidatesFor(leaves).admits(partner, book.limits.hard);
  for (const { group, except, to } of isLeavingFirst ? steps : steps.toReversed())
    commit(planning, nameCandidate(planning, { group, except, cause: relief.cause, reason: "SWAP", bounds: [book.limits.hard] }, to));
  return true;
}

function* bestExchange(planning: Planning, relief: Relief, excess: Excess): Resumable<Exchange | undefined> {
  const leaving = movableOn(planning, relief.candidate, relief.urgency);
  let best: Exchange | undefined;
  for (const partner of leastLoaded(planning, relief.candidate))
    best = yield* bestWith(planning, relief, { excess, leaving, partner, best });
  return best;
}

interface ExchangeSearch {
  readonly excess: Excess;
  readonly leaving: readonly AffinityGroup[];
  readonly partner: number;
  /** Of the partners before. */
  readonly best: Exchange | undefined;
}

/** Instances hold hundreds of units, so there are very many pairs: only what would be the best so far is examined. */
function* bestWith(
  planning: Planning,
  relief: Relief,
  { excess, leaving, partner, best: before }: ExchangeSearch,
): Resumable<Exchange | undefined> {
  const { dimension } = excess;
  const coming = movableOn(planning, partner, relief.urgency);
  const most = spaceFor(planning, partner, relief, dimension);
  let best = before;
  for (const leaves of leaving) {
    yield;
    for (const comes of coming) {
      const [out, back] = [leaves.load[dimension] as number, comes.load[dimension] as number];
      if (out <= back || out - back > most) continue;
      const found = { leaves, comes, partner, gain: out - back, cost: out + back };
      if ((best === undefined || compare(found, best, excess) < 0) && canBeMade(planning, relief, found)) best = found;
    }
  }
  return best;
}

/** How much more an instance may carry in one dimension after an exchange. */
function spaceFor({ book }: Planning, candidate: number, { bounds }: Relief, dimension: number): number {
  const [load, capacity] = [book.loadOf(candidate)[dimension] as number, book.capacityOf(candidate)[dimension] as number];
  return Math.floor((capacity * Math.max(...bounds)) / WHOLE) - load;
}

function compare(a: Exchange, b: Exchange, { amount }: Excess): number {
  const [coversA, coversB] = [a.gain >= amount, b.gain >= amount];
  if (coversA !== coversB) return coversA ? -1 : 1;
  const better = coversA ? a.cost - b.cost : b.gain - a.gain;
  return better || a.cost - b.cost || (`${a.leaves.key} ${a.comes.key}` < `${b.leaves.key} ${b.comes.key}` ? -1 : 1);
}

/** Whether both instances would be within bounds after it, may hold what they would get, and one of the two can go first. */
function canBeMade({ book }: Planning, relief: Relief, { leaves, comes, partner }: Exchange): boolean {
  const limit = Math.max(...relief.bounds);
  const after = (candidate: number, plus: AffinityGroup, minus: AffinityGroup): boolean =>
    book.loadOf(candidate).every((amount, d) => {
      const would = amount + (plus.load[d] as number) - (minus.load[d] as number);
      return would <= amount || would * WHOLE <= (book.capacityOf(candidate)[d] as number) * limit;
    });
  if (!after(partner, leaves, comes) || !after(relief.candidate, comes, leaves)) return false;
  // The second of the two may wait for room only: whatever else keeps it away does not end when the first one leaves.
  if (!book.isEligible(leaves, partner) || !book.isEligible(comes, relief.candidate)) return false;
  return (
    book.candidatesFor(leaves).admits(partner, book.limits.hard) || book.candidatesFor(comes).admits(relief.candidate, book.limits.hard)
  );
}

function leastLoaded({ book, policy }: Planning, except: number): readonly number[] {
  const candidates = book.candidates.flatMap(({ state }, candidate) =>
    state === "ACTIVE" && candidate !== except ? [{ candidate, share: book.share(candidate) }] : [],
  );
  return candidates
    .sort((a, b) => a.share - b.share || a.candidate - b.candidate)
    .slice(0, policy.swapTargets)
    .map(({ candidate }) => candidate);
}
