import type { Millis } from "./clock.ts";
import type { Move, MovePhase } from "./move.ts";

type Timed = Pick<Move, "marks" | "endedAt">;

/** When a phase began last; `undefined`: it did not. */
export function beganAt({ marks }: Pick<Move, "marks">, phase: MovePhase): Millis | undefined {
  return marks.findLast((mark) => mark.phase === phase)?.at;
}

/**
 * For how long nobody was the owner, in ms: from REVOKE until the new owner had compared, or the old one had the unit back, or until now;
 * `undefined` before that.
 */
export function gapMs(move: Timed, now: Millis): number | undefined {
  const from = beganAt(move, "REVOKE");
  const to = beganAt(move, "VERIFY") ?? beganAt(move, "ABORT") ?? move.endedAt ?? now;
  return from === undefined ? undefined : to - from;
}

/** From its turn to its end, or to now, in ms; `undefined` while it waits for its turn. */
export function tookMs(move: Timed, now: Millis): number | undefined {
  const from = beganAt(move, "PREPARE");
  return from === undefined ? undefined : (move.endedAt ?? now) - from;
}
