import { type Millis, millis } from "../../domain/clock.ts";
import type { InstanceId } from "../../domain/ids.ts";
import { LOAD_DIMENSIONS, type LoadVector, loadVector } from "../../domain/load.ts";
import type { MoveReason, PlannedMove } from "../../domain/plan.ts";
import type { Resumable } from "../../domain/resumable.ts";
import { type LoadedInstance, ringNodes } from "../candidate.ts";
import { type CandidateSet, type Choice, chooseCandidate } from "../choose-candidate.ts";
import type { HashRing } from "../hash-ring.ts";
import { whyNot } from "../place-unit.ts";
import type { RingSource } from "../ring-memo.ts";
import { type AffinityGroup, failedUntil } from "./affinity-groups.ts";
import { type Book, openBookInTurns } from "./book.ts";
import { type BlockedBy, type Budget, openBudgetInTurns, type Urgency } from "./budget.ts";
import { NOWHERE } from "./ledger.ts";
import type { PlannerPolicy } from "./planner-policy.ts";
import { type CandidateQuestion, type Cause, type MoveRecord, type PlacementAnswer, ruleFor, type StayRecord } from "./record.ts";
import type { PlanSnapshot, PlanUnit } from "./snapshot.ts";

/** What the steps of planning share: the fleet as planned so far, what is left of the budget, and what is recorded. */
export interface Planning {
  readonly snapshot: PlanSnapshot;
  readonly policy: PlannerPolicy;
  readonly book: Book;
  readonly budget: Budget;
  readonly ring: HashRing;
  readonly moves: PlannedMove[];
  readonly records: MoveRecord[];
  readonly stays: Map<string, StayRecord>;
  /** Groups that should move and that no instance can take, by key. */
  readonly withoutInstance: Map<string, MoveRecord>;
  readonly blockedBy: Map<string, BlockedBy>;
  readonly moved: Set<AffinityGroup>;
}

export function* openPlanningInTurns(snapshot: PlanSnapshot, policy: PlannerPolicy, ringOf: RingSource): Resumable<Planning> {
  const book = yield* openBookInTurns(snapshot, policy);
  return {
    snapshot,
    policy,
    book,
    budget: yield* openBudgetInTurns(snapshot, policy),
    ring: yield* ringOf(ringNodes(book.candidates)),
    moves: [],
    records: [],
    stays: new Map(),
    withoutInstance: new Map(),
    blockedBy: new Map(),
    moved: new Set(),
  };
}

/** The ring's candidates for a group, most preferred first. */
function walkOf({ book, ring, policy }: Planning, group: AffinityGroup): readonly number[] {
  return ring.candidates(group.key, policy.placement.candidates).flatMap((id) => book.candidateIndex.get(id) ?? []);
}

export function preferredFor({ book, ring }: Planning, group: AffinityGroup): number {
  return book.candidateIndex.get(ring.preferred(group.key) ?? "") ?? NOWHERE;
}

/** The groups of an instance that may be moved now and were not moved yet; why others may not is recorded in `stays`. */
export function movableOn(planning: Planning, candidate: number, urgency: Urgency): readonly AffinityGroup[] {
  const { book, moved, stays, policy } = planning;
  const moment = { at: planning.snapshot.at, policy, urgency };
  return book.groupsOn(candidate).filter((group) => {
    if (moved.has(group) || book.placementOf(group) === NOWHERE) return false;
    const stay = whyStays(group, moment);
    if (stay !== undefined) stays.set(stay.unit, stay);
    return stay === undefined;
  });
}

/** Records what blocks moves, once for each rule and subject. */
export function noteBlockedBy(planning: Planning, found: BlockedBy): void {
  const subject = "subject" in found ? found.subject : "instance" in found ? found.instance : "";
  const key = `${found.rule} ${subject}`;
  if (!planning.blockedBy.has(key)) planning.blockedBy.set(key, found);
}

export interface CandidateSearch {
  readonly group: AffinityGroup;
  readonly cause: Cause;
  readonly reason: MoveReason;
  readonly bounds: readonly number[];
  /** An instance it must not go to: the one it leaves. */
  readonly except: number;
}

export interface FoundCandidate {
  readonly search: CandidateSearch;
  readonly to: number;
  readonly record: MoveRecord;
}

/** Finds an instance for a group by the rule of placement. If there is none, that is recorded. */
export function findCandidate(planning: Planning, search: CandidateSearch): FoundCandidate | undefined {
  const { book } = planning;
  const { group, bounds, except } = search;
  const full = walkOf(planning, group);
  const walk = full.filter((candidate) => candidate !== except);
  const candidateSet = book.candidatesFor(group, except);
  const choice = chooseCandidate(candidateSet, walk, bounds);
  const candidates = candidatesToShow({ walk, choice, candidateSet, size: book.candidates.length, except });
  const preferred = book.candidates[full[0] ?? NOWHERE]?.id ?? ("" as InstanceId);
  const shownWalk = Math.min(walk.length, choice === undefined || choice.rank < 0 ? walk.length : choice.rank + 1);
  const question = questionOf(planning, search, { candidates, walk: shownWalk, preferred });
  const record = recordOf(planning, search, { question, choice });
  if (choice === undefined) {
    planning.withoutInstance.set(group.key, record);
    return undefined;
  }
  planning.withoutInstance.delete(group.key);
  return { search, to: choice.candidate, record };
}

/** An instance that the planner names itself: the other side of an exchange, or the new instance that it fills. */
export function nameCandidate(planning: Planning, search: CandidateSearch, to: number): FoundCandidate {
  const question = questionOf(planning, search, { candidates: [to], walk: 1, preferred: undefined });
  const choice = { candidate: to, bound: search.bounds[0] as number, rank: 0 };
  return { search, to, record: recordOf(planning, search, { question, choice }) };
}

/** Makes the move: in the book, in the list of moves, and among the records. */
export function commit({ book, moves, records, moved }: Planning, { search, to, record }: FoundCandidate): void {
  const { group, reason } = search;
  const target = book.candidates[to]?.id as InstanceId;
  for (const { id, owner, epoch } of group.units) if (owner !== target) moves.push({ unit: id, from: owner, to: target, epoch, reason });
  book.move(group, to);
  records.push(record);
  moved.add(group);
}

export const asVector = (amounts: readonly number[]): LoadVector =>
  loadVector((dimension) => amounts[LOAD_DIMENSIONS.indexOf(dimension)] ?? 0);

/** Where nothing fits, and where the least loaded was taken, this many instances beyond the walk are recorded. */
const OTHERS_SHOWN = 12;

interface Choosing {
  readonly walk: readonly number[];
  readonly choice: Choice | undefined;
  readonly candidateSet: CandidateSet;
  readonly size: number;
  readonly except: number;
}

function candidatesToShow({ walk, choice, candidateSet, size, except }: Choosing): readonly number[] {
  if (choice !== undefined && choice.rank >= 0) return walk.slice(0, choice.rank + 1);
  const others = Array.from({ length: size }, (_, candidate) => candidate).filter(
    (candidate) => candidate !== except && !walk.includes(candidate),
  );
  if (choice === undefined) return [...walk, ...others.slice(0, OTHERS_SHOWN)];
  const byShare = others
    .filter((candidate) => candidate !== choice.candidate)
    .map((candidate) => ({ candidate, share: candidateSet.shareWith(candidate) }));
  const nearest = byShare.sort((a, b) => a.share - b.share || a.candidate - b.candidate).slice(0, OTHERS_SHOWN - 1);
  return [...new Set([...walk, choice.candidate, ...nearest.map(({ candidate }) => candidate)])];
}

interface ShownCandidates {
  readonly candidates: readonly number[];
  readonly walk: number;
  readonly preferred: InstanceId | undefined;
}

function questionOf(
  { book }: Planning,
  { group, bounds }: CandidateSearch,
  { candidates, walk, preferred }: ShownCandidates,
): CandidateQuestion {
  const views = candidates.map(
    (candidate): LoadedInstance => ({
      ...book.offer(candidate, group),
      load: asVector(book.loadWithout(candidate, group)),
      capacity: asVector(book.capacityOf(candidate)),
    }),
  );
  const units = group.units.length === 1 ? {} : { units: group.units.length };
  return { key: group.key, load: asVector(group.load), ...units, constraints: group.constraints, preferred, bounds, views, walk };
}

interface Chosen {
  readonly question: CandidateQuestion;
  readonly choice: Choice | undefined;
}

function recordOf({ book }: Planning, { group, cause, reason }: CandidateSearch, { question, choice }: Chosen): MoveRecord {
  const units = group.units.map(({ id }) => id);
  const bound = choice?.bound ?? (question.bounds.at(-1) as number);
  const passed = choice === undefined ? question.views : question.views.slice(0, choice.rank < 0 ? question.walk : choice.rank);
  const refusals = passed.flatMap((view) => whyNot(view, question, bound) ?? []);
  const chosen = book.candidates[choice?.candidate ?? NOWHERE]?.id;
  const answer: PlacementAnswer =
    choice === undefined || chosen === undefined
      ? { chosen: undefined, bound: undefined, rule: "NOTHING_FITS", refusals }
      : { chosen, bound: choice.bound, rule: ruleFor(chosen, question.preferred, choice.rank), refusals };
  return { units, reason, cause, question, answer };
}

interface Moment {
  readonly at: Millis;
  readonly policy: PlannerPolicy;
  readonly urgency: Urgency;
}

type Reason = Pick<StayRecord, "rule" | "until">;

/** Why a group is left where it is, however full its instance is; `undefined` when it may be moved. */
function whyStays(group: AffinityGroup, moment: Moment): StayRecord | undefined {
  for (const unit of group.units) {
    if (isUnbound(unit)) continue;
    const reason = reasonOf(unit, moment);
    if (reason !== undefined && unit.owner !== undefined) return { unit: unit.id, instance: unit.owner, at: moment.at, ...reason };
  }
  return undefined;
}

/** Whether nothing could hold the unit back, which is so for nearly all units. */
function isUnbound({ movingTo, isPassing, doNotMoveUntil, movedAt, failed }: PlanUnit): boolean {
  return movingTo === undefined && isPassing === undefined && doNotMoveUntil === undefined && movedAt === undefined && failed === undefined;
}

/** Why one unit is left. On an overloaded instance no cool-down counts: only the present load matters there. */
function reasonOf(unit: PlanUnit, { at, policy, urgency }: Moment): Reason | undefined {
  const { movingTo, isPassing, doNotMoveUntil, movedAt, failed } = unit;
  if (movingTo !== undefined || isPassing !== undefined) return { rule: "MOVING", until: undefined };
  const waits: readonly (readonly [StayRecord["rule"], number | undefined])[] = [
    ["DO_NOT_MOVE", doNotMoveUntil],
    ["COOL_DOWN", movedAt === undefined || urgency === "hot" ? undefined : movedAt + policy.coolDownMs],
    ["FAILED_BEFORE", failed === undefined || urgency === "hot" ? undefined : failedUntil(failed, policy)],
  ];
  for (const [rule, until] of waits) if (until !== undefined && until > at) return { rule, until: millis(until) };
  return undefined;
}
