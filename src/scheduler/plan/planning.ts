import { type Millis, millis } from "../../domain/clock.ts";
import type { InstanceId } from "../../domain/ids.ts";
import { LOAD_DIMENSIONS, type LoadVector, loadVector } from "../../domain/load.ts";
import type { MoveReason, PlannedMove } from "../../domain/plan.ts";
import { type Choice, chooseSeat, type Room } from "../choose-seat.ts";
import type { HashRing } from "../hash-ring.ts";
import { type Held, ringNodes, whyNot } from "../place-unit.ts";
import type { RingSource } from "../ring-memo.ts";
import { type Book, openBook } from "./book.ts";
import { type Brake, type Budget, openBudget, type Urgency } from "./budget.ts";
import { type Bundle, failedUntil } from "./bundles.ts";
import { NOWHERE } from "./ledger.ts";
import type { PlannerPolicy } from "./planner-policy.ts";
import { type Cause, type MoveRecord, ruleFor, type SeatAnswer, type SeatQuestion, type StayRecord } from "./record.ts";
import type { PlanSnapshot, PlanUnit } from "./snapshot.ts";

/** What the steps of planning share: the fleet as it would be by now, what may still be spent, and what is written down. */
export interface Planning {
  readonly snapshot: PlanSnapshot;
  readonly policy: PlannerPolicy;
  readonly book: Book;
  readonly budget: Budget;
  readonly ring: HashRing;
  readonly moves: PlannedMove[];
  readonly records: MoveRecord[];
  readonly stays: Map<string, StayRecord>;
  /** Bundles that were to move and found no seat, by key. */
  readonly homeless: Map<string, MoveRecord>;
  readonly brakes: Map<string, Brake>;
  readonly moved: Set<Bundle>;
}

export function openPlanning(snapshot: PlanSnapshot, policy: PlannerPolicy, ringOf: RingSource): Planning {
  const book = openBook(snapshot, policy);
  return {
    snapshot,
    policy,
    book,
    budget: openBudget(snapshot, policy),
    ring: ringOf(ringNodes(book.seats)),
    moves: [],
    records: [],
    stays: new Map(),
    homeless: new Map(),
    brakes: new Map(),
    moved: new Set(),
  };
}

/** The ring's candidates for a bundle, most preferred first. */
function walkOf({ book, ring, policy }: Planning, bundle: Bundle): readonly number[] {
  return ring.candidates(bundle.key, policy.placement.candidates).flatMap((id) => book.seatIndex.get(id) ?? []);
}

export function preferredBy({ book, ring }: Planning, bundle: Bundle): number {
  return book.seatIndex.get(ring.preferred(bundle.key) ?? "") ?? NOWHERE;
}

/** Bundles of an instance that may be moved now and were not yet; those that may not are written down with the reason. */
export function movableOn(planning: Planning, seat: number, urgency: Urgency): readonly Bundle[] {
  const { book, moved, stays, policy } = planning;
  const moment = { at: planning.snapshot.at, policy, urgency };
  return book.bundlesOn(seat).filter((bundle) => {
    if (moved.has(bundle) || book.seatOf(bundle) === NOWHERE) return false;
    const stay = whyStays(bundle, moment);
    if (stay !== undefined) stays.set(stay.unit, stay);
    return stay === undefined;
  });
}

/** Writes down a brake that bit, once for each thing it bit on. */
export function noteBrake({ brakes }: Planning, brake: Brake): void {
  const subject = "subject" in brake ? brake.subject : "instance" in brake ? brake.instance : "";
  if (!brakes.has(`${brake.brake} ${subject}`)) brakes.set(`${brake.brake} ${subject}`, brake);
}

export interface Search {
  readonly bundle: Bundle;
  readonly cause: Cause;
  readonly reason: MoveReason;
  readonly bounds: readonly number[];
  /** An instance it must not go to: the one it leaves. */
  readonly except: number;
}

export interface Found {
  readonly search: Search;
  readonly to: number;
  readonly record: MoveRecord;
}

/** Looks for a seat by the rule of placement. What was not found is written down as homeless. */
export function findSeat(planning: Planning, search: Search): Found | undefined {
  const { book } = planning;
  const { bundle, bounds, except } = search;
  const full = walkOf(planning, bundle);
  const walk = full.filter((seat) => seat !== except);
  const room = book.roomFor(bundle, except);
  const choice = chooseSeat(room, walk, bounds);
  const seats = seatsToShow({ walk, choice, room, size: book.seats.length, except });
  const preferred = book.seats[full[0] ?? NOWHERE]?.id ?? ("" as InstanceId);
  const shownWalk = Math.min(walk.length, choice === undefined || choice.rank < 0 ? walk.length : choice.rank + 1);
  const question = questionOf(planning, search, { seats, walk: shownWalk, preferred });
  const record = recordOf(planning, search, { question, choice });
  if (choice === undefined) {
    planning.homeless.set(bundle.key, record);
    return undefined;
  }
  planning.homeless.delete(bundle.key);
  return { search, to: choice.seat, record };
}

/** A seat that the planner names itself: the place of the unit it changes with, the new instance that it fills. */
export function nameSeat(planning: Planning, search: Search, to: number): Found {
  const question = questionOf(planning, search, { seats: [to], walk: 1, preferred: undefined });
  const choice = { seat: to, bound: search.bounds[0] as number, rank: 0 };
  return { search, to, record: recordOf(planning, search, { question, choice }) };
}

/** Makes the move: in the book, in the list of moves, and among the records. */
export function commit({ book, moves, records, moved }: Planning, { search, to, record }: Found): void {
  const { bundle, reason } = search;
  const target = book.seats[to]?.id as InstanceId;
  for (const { id, owner, epoch } of bundle.units) if (owner !== target) moves.push({ unit: id, from: owner, to: target, epoch, reason });
  book.move(bundle, to);
  records.push(record);
  moved.add(bundle);
}

export const asVector = (amounts: readonly number[]): LoadVector =>
  loadVector((dimension) => amounts[LOAD_DIMENSIONS.indexOf(dimension)] ?? 0);

/** Where nothing fits, and where the least loaded was taken, this many instances beyond the walk are shown. */
const OTHERS_SHOWN = 12;

interface Shown {
  readonly walk: readonly number[];
  readonly choice: Choice | undefined;
  readonly room: Room;
  readonly size: number;
  readonly except: number;
}

function seatsToShow({ walk, choice, room, size, except }: Shown): readonly number[] {
  if (choice !== undefined && choice.rank >= 0) return walk.slice(0, choice.rank + 1);
  const others = Array.from({ length: size }, (_, seat) => seat).filter((seat) => seat !== except && !walk.includes(seat));
  if (choice === undefined) return [...walk, ...others.slice(0, OTHERS_SHOWN)];
  const byShare = others.filter((seat) => seat !== choice.seat).map((seat) => ({ seat, share: room.shareWith(seat) }));
  const nearest = byShare.sort((a, b) => a.share - b.share || a.seat - b.seat).slice(0, OTHERS_SHOWN - 1);
  return [...new Set([...walk, choice.seat, ...nearest.map(({ seat }) => seat)])];
}

interface Look {
  readonly seats: readonly number[];
  readonly walk: number;
  readonly preferred: InstanceId | undefined;
}

function questionOf({ book }: Planning, { bundle, bounds }: Search, { seats, walk, preferred }: Look): SeatQuestion {
  const views = seats.map(
    (seat): Held => ({
      ...book.offer(seat, bundle),
      load: asVector(book.loadWithout(seat, bundle)),
      capacity: asVector(book.capacityOf(seat)),
    }),
  );
  return { key: bundle.key, load: asVector(bundle.load), wish: bundle.wish, preferred, bounds, views, walk };
}

interface Chosen {
  readonly question: SeatQuestion;
  readonly choice: Choice | undefined;
}

function recordOf({ book }: Planning, { bundle, cause, reason }: Search, { question, choice }: Chosen): MoveRecord {
  const units = bundle.units.map(({ id }) => id);
  const bound = choice?.bound ?? (question.bounds.at(-1) as number);
  const passed = choice === undefined ? question.views : question.views.slice(0, choice.rank < 0 ? question.walk : choice.rank);
  const refusals = passed.flatMap((view) => whyNot(view, question, bound) ?? []);
  const chosen = book.seats[choice?.seat ?? NOWHERE]?.id;
  const answer: SeatAnswer =
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

/** Why a bundle is left where it is, whatever its instance would wish; `undefined` when it may be moved. */
function whyStays(bundle: Bundle, moment: Moment): StayRecord | undefined {
  for (const unit of bundle.units) {
    if (isUnbound(unit)) continue;
    const reason = reasonOf(unit, moment);
    if (reason !== undefined && unit.owner !== undefined) return { unit: unit.id, instance: unit.owner, at: moment.at, ...reason };
  }
  return undefined;
}

/** Nothing is known that could hold the unit back, which is so for nearly all of them. */
function isUnbound({ movingTo, doNotMoveUntil, movedAt, failed }: PlanUnit): boolean {
  return movingTo === undefined && doNotMoveUntil === undefined && movedAt === undefined && failed === undefined;
}

/** A unit of an overloaded instance need not have cooled down: it is the present load that matters there. */
function reasonOf(unit: PlanUnit, { at, policy, urgency }: Moment): Reason | undefined {
  const { movingTo, doNotMoveUntil, movedAt, failed } = unit;
  if (movingTo !== undefined) return { rule: "MOVING", until: undefined };
  const waits: readonly (readonly [StayRecord["rule"], number | undefined])[] = [
    ["DO_NOT_MOVE", doNotMoveUntil],
    ["COOL_DOWN", movedAt === undefined || urgency === "hot" ? undefined : movedAt + policy.coolDownMs],
    ["FAILED_BEFORE", failed === undefined || urgency === "hot" ? undefined : failedUntil(failed, policy)],
  ];
  for (const [rule, until] of waits) if (until !== undefined && until > at) return { rule, until: millis(until) };
  return undefined;
}
