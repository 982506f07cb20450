import type { InstanceId } from "../../domain/ids.ts";
import { type Resumable, visitInTurns } from "../../domain/resumable.ts";
import { WHOLE } from "../policy.ts";
import type { AffinityGroup } from "./affinity-groups.ts";
import { NOWHERE } from "./ledger.ts";
import { asVector, commit, movableOn, nameCandidate, noteBlockedBy, type Planning, preferredFor } from "./planning.ts";
import type { Cause } from "./record.ts";

interface Filling {
  readonly candidate: number;
  /** Utilisation to fill it to, ppm; an instance that would fall below it gives nothing. */
  readonly goal: number;
  readonly cause: Cause;
}

/**
 * Fills new instances almost up to the mean, with units of instances above that only. It takes first the units that the ring would put
 * there, so that placements keep agreeing with the ring, then the largest that fit from the most loaded instance.
 */
export function* planFillInTurns(planning: Planning): Resumable<void> {
  const { book, policy } = planning;
  const goal = Math.floor((book.limits.mean * (WHOLE - policy.fillShort)) / WHOLE);
  for (const [candidate, { id, state, isFilling }] of book.candidates.entries()) {
    yield;
    const share = book.share(candidate);
    if (state !== "ACTIVE" || !isFilling || share >= goal) continue;
    const gate = planning.budget.gate("voluntary");
    const blockedBy = gate ?? planning.budget.spent("voluntary");
    if (blockedBy !== undefined) return noteBlockedBy(planning, blockedBy);
    const [load, capacity] = [asVector(book.loadOf(candidate)), asVector(book.capacityOf(candidate))];
    const filling = { candidate, goal, cause: { rule: "BELOW", instance: id, load, capacity, share, limit: goal } as const };
    const stock = new Map<number, readonly AffinityGroup[]>();
    yield* takeNatural(planning, filling, stock);
    yield* takeLargest(planning, filling, stock);
  }
}

/** Takes the units on donors that the ring would put on the new instance, largest first. */
function* takeNatural(planning: Planning, filling: Filling, stock: Map<number, readonly AffinityGroup[]>): Resumable<void> {
  const { book } = planning;
  const natural: AffinityGroup[] = [];
  for (const donor of book.candidates.keys()) {
    if (!isDonor(planning, filling, donor)) continue;
    const movable = movableOn(planning, donor, "voluntary");
    stock.set(donor, movable);
    yield* visitInTurns(movable, (group) => {
      if (preferredFor(planning, group) === filling.candidate) natural.push(group);
    });
    yield;
  }
  for (const group of bySize(planning, natural)) {
    yield;
    if (book.share(filling.candidate) >= filling.goal) return;
    take(planning, filling, group);
  }
}

/** Takes the largest unit that fits from the most loaded donor, again and again, until the instance is filled or no donor can give. */
function* takeLargest(planning: Planning, filling: Filling, stock: ReadonlyMap<number, readonly AffinityGroup[]>): Resumable<void> {
  const { book, moved } = planning;
  const sorted = new Map<number, readonly AffinityGroup[]>();
  // What is too large now stays too large: deficit and surplus only shrink.
  const stockOf = (donor: number): readonly AffinityGroup[] => {
    const most = Math.min(-surplus(planning, filling.candidate, filling.goal), surplus(planning, donor, filling.goal));
    const fits = (group: AffinityGroup): boolean => (group.load[book.limits.scarce] as number) <= most;
    const known = sorted.get(donor);
    return (
      known?.filter(fits) ??
      bySize(
        planning,
        (stock.get(donor) ?? []).filter((group) => fits(group) && !moved.has(group)),
      )
    );
  };
  const spent = new Set<number>();
  const shares = book.candidates.map((_, candidate) => book.share(candidate));
  while (book.share(filling.candidate) < filling.goal && planning.budget.spent("voluntary") === undefined) {
    yield;
    const donor = mostLoaded(shares, filling, spent);
    if (donor === NOWHERE) return;
    const left = stockOf(donor);
    const taken = left.findIndex((group) => take(planning, filling, group));
    if (taken < 0) spent.add(donor);
    else sorted.set(donor, left.slice(taken + 1));
    shares[donor] = book.share(donor);
  }
}

/** Moves one group if it is no larger than what is missing, and no larger than what its instance can give. */
function take(planning: Planning, { candidate, goal, cause }: Filling, group: AffinityGroup): boolean {
  const { book } = planning;
  const donor = book.placementOf(group);
  const size = group.load[book.limits.scarce] as number;
  if (size <= 0 || size > -surplus(planning, candidate, goal) || size > surplus(planning, donor, goal)) return false;
  const bounds = [book.limits.shedTo];
  if (!book.candidatesFor(group, donor).admits(candidate, book.limits.shedTo)) return false;
  const asked = [{ units: group.units, from: book.candidates[donor]?.id as InstanceId, to: book.candidates[candidate]?.id as InstanceId }];
  const blockedBy = planning.budget.whyNot(asked, "voluntary");
  if (blockedBy !== undefined) {
    noteBlockedBy(planning, blockedBy);
    return false;
  }
  planning.budget.spend(asked);
  commit(planning, nameCandidate(planning, { group, except: donor, cause, reason: "FILL", bounds }, candidate));
  return true;
}

/** Load above the goal in the dimension that is scarce; negative: what is missing. */
function surplus({ book }: Planning, candidate: number, goal: number): number {
  return book.surplus(candidate, book.limits.scarce, goal);
}

function isDonor({ book }: Planning, { candidate, goal }: Filling, donor: number): boolean {
  return donor !== candidate && book.share(donor) > goal;
}

function mostLoaded(shares: readonly number[], { candidate, goal }: Filling, spent: ReadonlySet<number>): number {
  let most = NOWHERE;
  for (const [donor, share] of shares.entries())
    if (donor !== candidate && share > goal && !spent.has(donor) && (most === NOWHERE || share > (shares[most] as number))) most = donor;
  return most;
}

function bySize({ book }: Planning, groups: readonly AffinityGroup[]): readonly AffinityGroup[] {
  const { scarce } = book.limits;
  return [...groups].sort((a, b) => (b.load[scarce] as number) - (a.load[scarce] as number) || (a.key < b.key ? -1 : 1));
}
