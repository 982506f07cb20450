import type { MovePhase } from "./move.ts";

/** What holds of a move while it is in a phase. */
interface PhaseRule {
  /** It has not ended. */
  readonly isLive: boolean;
  /** It takes part in what may be under way at once. */
  readonly isUnderWay: boolean;
  /** Nobody but the move writes for the unit. */
  readonly holdsUnit: boolean;
  /** The source still owns the unit: the move can be aborted. */
  readonly isRevocable: boolean;
  /** Where it may go from here. After COMMIT there is no way but forward. */
  readonly next: readonly MovePhase[];
}

/** The states of a move. A record, so that the compiler asks for a rule of each new phase. */
export const PHASES: Readonly<Record<MovePhase, PhaseRule>> = {
  WAITING: { isLive: true, isUnderWay: false, holdsUnit: false, isRevocable: true, next: ["PREPARE", "ABORTED"] },
  PREPARE: { isLive: true, isUnderWay: true, holdsUnit: true, isRevocable: true, next: ["FENCE", "ABORT"] },
  FENCE: { isLive: true, isUnderWay: true, holdsUnit: true, isRevocable: true, next: ["QUIESCE", "ABORT"] },
  QUIESCE: { isLive: true, isUnderWay: true, holdsUnit: true, isRevocable: true, next: ["REVOKE", "ABORT"] },
  REVOKE: { isLive: true, isUnderWay: true, holdsUnit: true, isRevocable: true, next: ["COMMIT", "ABORT"] },
  COMMIT: { isLive: true, isUnderWay: true, holdsUnit: true, isRevocable: true, next: ["GRANT", "ABORT"] },
  GRANT: { isLive: true, isUnderWay: true, holdsUnit: true, isRevocable: false, next: ["ACTIVATE", "REDIRECTED"] },
  ACTIVATE: { isLive: true, isUnderWay: true, holdsUnit: true, isRevocable: false, next: ["VERIFY", "REDIRECTED"] },
  VERIFY: { isLive: true, isUnderWay: true, holdsUnit: true, isRevocable: false, next: ["CLEANUP", "REDIRECTED"] },
  CLEANUP: { isLive: true, isUnderWay: true, holdsUnit: false, isRevocable: false, next: ["DONE", "REDIRECTED"] },
  ABORT: { isLive: true, isUnderWay: true, holdsUnit: false, isRevocable: false, next: ["ABORTED"] },
  DONE: { isLive: false, isUnderWay: false, holdsUnit: false, isRevocable: false, next: [] },
  ABORTED: { isLive: false, isUnderWay: false, holdsUnit: false, isRevocable: false, next: [] },
  REDIRECTED: { isLive: false, isUnderWay: false, holdsUnit: false, isRevocable: false, next: [] },
};
