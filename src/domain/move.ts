import type { Millis } from "./clock.ts";
import type { InstanceId, MoveId, PlanId, UnitId } from "./ids.ts";
import type { MoveReason } from "./plan.ts";
import type { HealthState, SyncState } from "./status.ts";

/**
 * Phases of a live move, in order. WAITING: for its turn. PREPARE: copies stand on the target, paused. FENCE: the source's
 * Applications take the move's epoch and lose whatever starts or deletes by itself. QUIESCE: the source comes to rest. REVOKE: the
 * right to write is taken, and seen to be gone. COMMIT: the row changes owner, the point of no return. GRANT: the target gets the
 * right. ACTIVATE: it works. VERIFY: it works no worse. CLEANUP: the source is emptied. ABORT: the source goes on under a new epoch,
 * and the target is emptied. REDIRECTED: its target went after COMMIT, and a fail-over takes the unit on from there.
 */
export const MOVE_PHASES = [
  "WAITING",
  "PREPARE",
  "FENCE",
  "QUIESCE",
  "REVOKE",
  "COMMIT",
  "GRANT",
  "ACTIVATE",
  "VERIFY",
  "CLEANUP",
  "ABORT",
  "DONE",
  "ABORTED",
  "REDIRECTED",
] as const;
export type MovePhase = (typeof MOVE_PHASES)[number];

/** What a move is made for, which decides how many may be under way at once. */
export const MOVE_KINDS = ["voluntary", "drain", "evacuation"] as const;
export type MoveKind = (typeof MOVE_KINDS)[number];

/** How one application was before the move: afterwards it may not be worse. */
export interface MoveBaseline {
  readonly name: string;
  readonly sync: SyncState;
  readonly health: HealthState;
  /** Types of Argo CD's conditions, sorted. */
  readonly conditions: readonly string[];
}

/** When a phase began. */
export interface MoveMark {
  readonly phase: MovePhase;
  readonly at: Millis;
}

/**
 * What a move's message says, for decisions; the text is for people. WAITS: what it waits for in its phase. WORSE: it goes on, or has ended,
 * although something is worse than before. GIVEN_UP: a person gave it up. None: nothing is said, or why it ended by itself.
 */
export const MOVE_MESSAGE_CODES = ["WAITS", "WORSE", "GIVEN_UP"] as const;
export type MoveMessageCode = (typeof MOVE_MESSAGE_CODES)[number];

/** The hand-over of one unit from the instance that owns it to another, while both and everything they deploy go on. */
export interface Move {
  readonly id: MoveId;
  readonly unitId: UnitId;
  readonly from: InstanceId;
  readonly to: InstanceId;
  /** The unit's epoch when the move was asked for: with another one it does not begin. */
  readonly fromEpoch: number;
  /** The move's own, under which the target will own the unit; 0 while it waits for its turn. */
  readonly toEpoch: number;
  readonly phase: MovePhase;
  readonly phaseSince: Millis;
  readonly kind: MoveKind;
  readonly reason: MoveReason;
  /** The plan it is a step of. */
  readonly plan: PlanId | undefined;
  /** Nobody goes to its source, which may be alive and out of reach: what it could do is forbidden where it writes. */
  readonly isFailOver: boolean;
  /** The move that it takes back. */
  readonly reverses: MoveId | undefined;
  /** Who asked for it. */
  readonly actor: string;
  readonly createdAt: Millis;
  readonly endedAt: Millis | undefined;
  /** What it waits for, or why it ended as it did, for people. */
  readonly message: string;
  readonly messageCode: MoveMessageCode | undefined;
  readonly baseline: readonly MoveBaseline[];
  /** Oldest first. */
  readonly marks: readonly MoveMark[];
}
