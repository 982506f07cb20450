import type { InstanceId } from "../../domain/ids.ts";
import { WHOLE } from "../policy.ts";
import type { Bundle } from "./bundles.ts";
import { NOWHERE } from "./ledger.ts";
import { asVector, commit, movableOn, nameSeat, noteBrake, type Planning, preferredBy } from "./planning.ts";
import type { Cause } from "./record.ts";

interface Filling {
  readonly seat: number;
  /** Utilisation to be filled up to, ppm; nobody gives who would fall below it. */
  readonly goal: number;
  readonly cause: Cause;
}

/**
 * Gives a new instance its share: almost up to the mean, and from those above that only. First units that the ring would put
 * there, so that placements keep agreeing with the ring, then the largest that fit from whoever is most loaded.
 */
export function planFill(planning: Planning): void {
  const { book, policy } = planning;
  const goal = Math.floor((book.limits.mean * (WHOLE - policy.fillShort)) / WHOLE);
  for (const [seat, { id, state, isFilling }] of book.seats.entries()) {
    const share = book.share(seat);
    if (state !== "ACTIVE" || !isFilling || share >= goal) continue;
    const gate = planning.budget.gate("voluntary");
    const brake = gate ?? planning.budget.spent("voluntary");
    if (brake !== undefined) return noteBrake(planning, brake);
    const [load, capacity] = [asVector(book.loadOf(seat)), asVector(book.capacityOf(seat))];
    const filling = { seat, goal, cause: { rule: "BELOW", instance: id, load, capacity, share, limit: goal } as const };
    const stock = new Map<number, readonly Bundle[]>();
    takeNatural(planning, filling, stock);
    takeLargest(planning, filling, stock);
  }
}

/** Units on donors that the ring would put on the new instance, largest first. */
function takeNatural(planning: Planning, filling: Filling, stock: Map<number, readonly Bundle[]>): void {
  const { book } = planning;
  const natural: Bundle[] = [];
  for (const donor of book.seats.keys()) {
    if (!isDonor(planning, filling, donor)) continue;
    const movable = movableOn(planning, donor, "voluntary");
    stock.set(donor, movable);
    for (const bundle of movable) if (preferredBy(planning, bundle) === filling.seat) natural.push(bundle);
  }
  for (const bundle of bySize(planning, natural)) {
    if (book.share(filling.seat) >= filling.goal) return;
    take(planning, filling, bundle);
  }
}

/** The largest unit that fits from the most loaded donor, again and again, until the instance is full or nobody can give. */
function takeLargest(planning: Planning, filling: Filling, stock: ReadonlyMap<number, readonly Bundle[]>): void {
  const { book, moved } = planning;
  const sorted = new Map<number, readonly Bundle[]>();
  // What is too large for the deficit or the surplus stays so: both only shrink.
  const stockOf = (donor: number): readonly Bundle[] => {
    const most = Math.min(-surplus(planning, filling.seat, filling.goal), surplus(planning, donor, filling.goal));
    const fits = (bundle: Bundle): boolean => (bundle.load[book.limits.scarce] as number) <= most;
    const known = sorted.get(donor);
    return (
      known?.filter(fits) ??
      bySize(
        planning,
        (stock.get(donor) ?? []).filter((bundle) => fits(bundle) && !moved.has(bundle)),
      )
    );
  };
  const spent = new Set<number>();
  const shares = book.seats.map((_, seat) => book.share(seat));
  while (book.share(filling.seat) < filling.goal && planning.budget.spent("voluntary") === undefined) {
    const donor = mostLoaded(shares, filling, spent);
    if (donor === NOWHERE) return;
    const left = stockOf(donor);
    const taken = left.findIndex((bundle) => take(planning, filling, bundle));
    if (taken < 0) spent.add(donor);
    else sorted.set(donor, left.slice(taken + 1));
    shares[donor] = book.share(donor);
  }
}

/** Moves one unit if it is no larger than what is missing and than what its instance has to give. */
function take(planning: Planning, { seat, goal, cause }: Filling, bundle: Bundle): boolean {
  const { book } = planning;
  const donor = book.seatOf(bundle);
  const size = bundle.load[book.limits.scarce] as number;
  if (size <= 0 || size > -surplus(planning, seat, goal) || size > surplus(planning, donor, goal)) return false;
  const bounds = [book.limits.shedTo];
  if (!book.roomFor(bundle, donor).admits(seat, book.limits.shedTo)) return false;
  const asked = [{ units: bundle.units, from: book.seats[donor]?.id as InstanceId, to: book.seats[seat]?.id as InstanceId }];
  const brake = planning.budget.whyNot(asked, "voluntary");
  if (brake !== undefined) {
    noteBrake(planning, brake);
    return false;
  }
  planning.budget.spend(asked);
  commit(planning, nameSeat(planning, { bundle, except: donor, cause, reason: "FILL", bounds }, seat));
  return true;
}

/** Load above the goal in the dimension that is scarce; negative: what is missing. */
function surplus({ book }: Planning, seat: number, goal: number): number {
  return book.surplus(seat, book.limits.scarce, goal);
}

function isDonor({ book }: Planning, { seat, goal }: Filling, donor: number): boolean {
  return donor !== seat && book.share(donor) > goal;
}

function mostLoaded(shares: readonly number[], { seat, goal }: Filling, spent: ReadonlySet<number>): number {
  let most = NOWHERE;
  for (const [donor, share] of shares.entries())
    if (donor !== seat && share > goal && !spent.has(donor) && (most === NOWHERE || share > (shares[most] as number))) most = donor;
  return most;
}

function bySize({ book }: Planning, bundles: readonly Bundle[]): readonly Bundle[] {
  const { scarce } = book.limits;
  return [...bundles].sort((a, b) => (b.load[scarce] as number) - (a.load[scarce] as number) || (a.key < b.key ? -1 : 1));
}
