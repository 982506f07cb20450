import { sha256 } from "../../domain/hash.ts";
import { NO_WISH, whyNotStay } from "../eligibility.ts";
import { shareOf } from "../utilisation.ts";
import type { Bundle } from "./bundles.ts";
import { NOTHING, NOWHERE } from "./ledger.ts";
import { commit, type Found, findSeat, nameSeat, type Planning, type Search } from "./planning.ts";
import type { Cause } from "./record.ts";

/**
 * Moves what must not stay where it is, or is nowhere. No budget holds this up and no cool-down; what finds no seat keeps its
 * owner and is reported.
 *
 * Big units go first, largest first, while there is still room for them. All others go in an order that has nothing to do
 * with their size: sorted by size throughout, some instances end with big units only, and a small excess later can be mended
 * by a big move only.
 */
export function planForced(planning: Planning, forced: readonly Bundle[]): void {
  const { book } = planning;
  const { tight, bound, hard } = book.limits;
  for (const bundle of inOrder(planning, forced)) {
    // Of two that live apart, one may stay once the other has left.
    const cause = whyForced(planning, bundle);
    if (cause === undefined) continue;
    const search = { bundle, cause, reason: "FORCED", bounds: [...new Set([tight, bound, hard])], except: NOWHERE } as const;
    const found = homecoming(planning, search) ?? findSeat(planning, search);
    if (found !== undefined) commit(planning, found);
  }
}

/** What must not stay where it is, or is nowhere, as the book stands. */
export function forcedOf(planning: Planning): readonly Bundle[] {
  const { book } = planning;
  const keepsAnybody = book.seats.map((seat) => whyNotStay(NO_WISH, seat) === undefined);
  const mayStay = (bundle: Bundle): boolean => bundle.isPlain && keepsAnybody[book.seatOf(bundle)] === true;
  return book.bundles.filter((bundle) => !mayStay(bundle) && whyForced(planning, bundle) !== undefined);
}

/** Why a bundle may not stay as it is; `undefined` when it may, or when a move of it is under way and has to end first. */
function whyForced({ book, snapshot }: Planning, bundle: Bundle): Cause | undefined {
  if (bundle.units.some(({ movingTo }) => movingTo !== undefined)) return undefined;
  if (bundle.units.length > 1 || book.seatOf(bundle) === NOWHERE) {
    const cause = whyApart(snapshot, book.seatIndex, bundle);
    if (cause !== undefined) return cause;
  }
  const offer = book.offer(book.seatOf(bundle), bundle);
  const ineligible = whyNotStay(bundle.wish, offer);
  return ineligible === undefined ? undefined : { rule: "MAY_NOT_STAY", wish: bundle.wish, offer, ineligible };
}

/** Why the units of a bundle are not all on one instance of the class; `undefined` when they are. */
function whyApart({ seats }: Planning["snapshot"], seatIndex: ReadonlyMap<string, number>, bundle: Bundle): Cause | undefined {
  const owners = bundle.units.map(({ owner }) => owner);
  const gone = owners.find((owner) => owner !== undefined && !seatIndex.has(owner));
  if (gone !== undefined) return { rule: "OWNER_GONE", instance: gone, known: seats.map(({ id }) => id).sort() };
  const known = [...new Set(owners.flatMap((owner) => owner ?? []))].sort();
  if (known.length === 0) return { rule: "UNPLACED" };
  if (known.length > 1) return { rule: "SPREAD", instances: known };
  // A new member of a group joins the others, wherever they are placed anew.
  return owners.includes(undefined) ? { rule: "UNPLACED" } : undefined;
}

/** A group of which a part is somewhere comes together where most of it is, if there is room: so the fewest move. */
function homecoming(planning: Planning, search: Search): Found | undefined {
  const { book } = planning;
  const { bundle, cause } = search;
  if (cause.rule !== "SPREAD" && cause.rule !== "UNPLACED") return undefined;
  const places = book.seatsOf(bundle).filter((seat) => seat !== NOWHERE);
  const counts = [...new Set(places)].map((seat) => ({ seat, count: places.filter((each) => each === seat).length }));
  const home = counts.sort((a, b) => b.count - a.count || a.seat - b.seat)[0]?.seat;
  if (home === undefined || !book.roomFor(bundle).admits(home, book.limits.hard)) return undefined;
  return nameSeat(planning, { ...search, bounds: [book.limits.hard] }, home);
}

function inOrder({ book, policy }: Planning, forced: readonly Bundle[]): readonly Bundle[] {
  const active = book.seats.flatMap(({ state }, seat) => (state === "ACTIVE" ? [book.capacityOf(seat)] : []));
  const mean = NOTHING.map((_, d) =>
    Math.floor(active.reduce((sum, capacity) => sum + (capacity[d] as number), 0) / Math.max(1, active.length)),
  );
  const sized = forced.map((bundle) => {
    const size = Math.max(...bundle.load.map((amount, d) => shareOf(amount, mean[d] as number)));
    return { bundle, size: size < policy.bigUnit ? 0 : size, tie: sha256(bundle.key) };
  });
  return sized.sort((a, b) => b.size - a.size || (a.tie < b.tie ? -1 : 1)).map(({ bundle }) => bundle);
}
