import { sha256 } from "../../domain/hash.ts";
import { filterInTurns, mapInTurns, type Resumable } from "../../domain/resumable.ts";
import { NO_CONSTRAINTS, whyNotStay } from "../eligibility.ts";
import { shareOf } from "../utilisation.ts";
import type { AffinityGroup } from "./affinity-groups.ts";
import { NOTHING, NOWHERE } from "./ledger.ts";
import { type CandidateSearch, commit, type FoundCandidate, findCandidate, nameCandidate, type Planning } from "./planning.ts";
import type { Cause } from "./record.ts";

/**
 * Moves the groups that may not stay where they are, and places those that are nowhere. Neither a budget nor a cool-down holds this up.
 * A group that no instance can take keeps its owner and is reported.
 *
 * Big units go first, largest first, while there is still room for them. All others go in an order that has nothing to do
 * with their size. If all were sorted by size, some instances would end up with big units only, and a small excess there could later be
 * removed only by a big move.
 */
export function* planForcedInTurns(planning: Planning, forced: readonly AffinityGroup[]): Resumable<void> {
  const { book } = planning;
  const { tight, bound, hard } = book.limits;
  for (const group of yield* inOrder(planning, forced)) {
    yield;
    // Of two that live apart, one may stay once the other has left.
    const cause = whyForced(planning, group);
    if (cause === undefined) continue;
    const search = { group, cause, reason: "FORCED", bounds: [...new Set([tight, bound, hard])], except: NOWHERE } as const;
    const found = gatherGroup(planning, search) ?? joinCompanions(planning, search) ?? findCandidate(planning, search);
    if (found !== undefined) commit(planning, found);
  }
}

/** The groups that may not stay where they are, or are nowhere, as the book has them. */
export function* forcedInTurns(planning: Planning): Resumable<readonly AffinityGroup[]> {
  const { book } = planning;
  const keepsAnybody = book.candidates.map((candidate) => whyNotStay(NO_CONSTRAINTS, candidate) === undefined);
  const mayStay = (group: AffinityGroup): boolean => group.isPlain && keepsAnybody[book.placementOf(group)] === true;
  return yield* filterInTurns(book.groups, (group) => !mayStay(group) && whyForced(planning, group) !== undefined);
}

/** Why a group may not stay as it is; `undefined` when it may, or when a move of it is under way and has to end first. */
function whyForced({ book, snapshot }: Planning, group: AffinityGroup): Cause | undefined {
  if (group.units.some(({ movingTo, isPassing }) => movingTo !== undefined || isPassing !== undefined)) return undefined;
  if (group.units.length > 1 || book.placementOf(group) === NOWHERE) {
    const cause = whyApart(snapshot, book.candidateIndex, group);
    if (cause !== undefined) return cause;
  }
  const offer = book.offer(book.placementOf(group), group);
  const ineligible = whyNotStay(group.constraints, offer);
  return ineligible === undefined ? undefined : { rule: "MAY_NOT_STAY", constraints: group.constraints, offer, ineligible };
}

/** Why the units of a group are not all on one instance of the class; `undefined` when they are. */
function whyApart(
  { candidates }: Planning["snapshot"],
  candidateIndex: ReadonlyMap<string, number>,
  group: AffinityGroup,
): Cause | undefined {
  const owners = group.units.map(({ owner }) => owner);
  const gone = owners.find((owner) => owner !== undefined && !candidateIndex.has(owner));
  if (gone !== undefined) return { rule: "OWNER_GONE", instance: gone, known: candidates.map(({ id }) => id).sort() };
  const known = [...new Set(owners.flatMap((owner) => owner ?? []))].sort();
  if (known.length === 0) return { rule: "UNPLACED" };
  if (known.length > 1) return { rule: "SPREAD", instances: known };
  // A new member of a group joins the others, wherever they are placed anew.
  return owners.includes(undefined) ? { rule: "UNPLACED" } : undefined;
}

/** Brings a group together where most of its units are already, if there is room for it: that moves the fewest units. */
function gatherGroup(planning: Planning, search: CandidateSearch): FoundCandidate | undefined {
  const { book } = planning;
  const { group, cause } = search;
  if (cause.rule !== "SPREAD" && cause.rule !== "UNPLACED") return undefined;
  const places = book.placementsOf(group).filter((candidate) => candidate !== NOWHERE);
  const counts = [...new Set(places)].map((candidate) => ({ candidate, count: places.filter((each) => each === candidate).length }));
  const host = counts.sort((a, b) => b.count - a.count || a.candidate - b.candidate)[0]?.candidate;
  if (host === undefined || !book.candidatesFor(group).admits(host, book.limits.hard)) return undefined;
  return nameCandidate(planning, { ...search, bounds: [book.limits.hard] }, host);
}

/**
 * Sends a group that has to leave to where others of its workspaces' group live, if that is not fuller than others then: those of a large group would fill one instance
 * to the brim.
 */
function joinCompanions(planning: Planning, search: CandidateSearch): FoundCandidate | undefined {
  const { book } = planning;
  const { group } = search;
  const { bound } = book.limits;
  const host = book.candidateIndex.get(group.units[0]?.companions ?? "");
  if (host === undefined || !book.candidatesFor(group).admits(host, bound)) return undefined;
  return nameCandidate(planning, { ...search, bounds: [bound] }, host);
}

function* inOrder({ book, policy }: Planning, forced: readonly AffinityGroup[]): Resumable<readonly AffinityGroup[]> {
  const active = book.candidates.flatMap(({ state }, candidate) => (state === "ACTIVE" ? [book.capacityOf(candidate)] : []));
  const mean = NOTHING.map((_, d) =>
    Math.floor(active.reduce((sum, capacity) => sum + (capacity[d] as number), 0) / Math.max(1, active.length)),
  );
  const sized = yield* mapInTurns(forced, (group) => {
    const size = Math.max(...group.load.map((amount, d) => shareOf(amount, mean[d] as number)));
    return { group, size: size < policy.bigUnit ? 0 : size, tie: sha256(group.key) };
  });
  return [...sized].sort((a, b) => b.size - a.size || (a.tie < b.tie ? -1 : 1)).map(({ group }) => group);
}
