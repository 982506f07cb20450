import type { Millis } from "../domain/clock.ts";
import type { Move, MovePhase } from "../domain/move.ts";

const NOTHING = { atApplications: false, atRegister: false };
const APPLICATIONS = { atApplications: true, atRegister: false };
const REGISTER = { atApplications: false, atRegister: true };

/** What a phase is decided from: the rest is not read. */
export const LOOKS: Readonly<Record<MovePhase, { readonly atApplications: boolean; readonly atRegister: boolean }>> = {
  WAITING: NOTHING,
  PREPARE: APPLICATIONS,
  FENCE: APPLICATIONS,
  QUIESCE: APPLICATIONS,
  REVOKE: REGISTER,
  COMMIT: NOTHING,
  GRANT: REGISTER,
  ACTIVATE: APPLICATIONS,
  VERIFY: APPLICATIONS,
  CLEANUP: APPLICATIONS,
  ABORT: APPLICATIONS,
  DONE: NOTHING,
  ABORTED: NOTHING,
  REDIRECTED: NOTHING,
};

/** A move, and what was seen of its world. */
interface Seen {
  readonly move: Move;
  readonly world: { readonly now: Millis };
}

/**
 * What was seen in the phase that a move has just left, for the one it has gone into; `undefined` where that is decided from something that
 * was not looked at, and where something is deleted. It is as old as what any step is decided from, and writes test what they were decided
 * from.
 */
export function seenNext<T extends Seen>(
  seen: T,
  { to, baseline, message }: { readonly to: MovePhase; readonly baseline?: Move["baseline"]; readonly message: string },
  now: Millis,
): T | undefined {
  const [had, needed] = [LOOKS[seen.move.phase], LOOKS[to]];
  if (to === "CLEANUP" || (needed.atApplications && !had.atApplications) || (needed.atRegister && !had.atRegister)) return undefined;
  const move = { ...seen.move, phase: to, phaseSince: now, message, baseline: baseline ?? seen.move.baseline };
  return { ...seen, move, world: { ...seen.world, now } };
}

/** How soon a move is looked at again that waits for a change which somebody tells of: what was not told costs this much. In ms. */
const TOLD_MS = 1_000;
/** Such changes come together, as those of several Applications do: how long a move stays asleep after the first, in ms. */
export const WAKE_MS = 20;

/**
 * How soon a move is looked at again that waits, in ms: often while users have no owner or soon will, seldom when it takes long.
 * `isTold`: what it waits for wakes it.
 */
export function lookAgainMs(phase: MovePhase, elapsedMs: number, isTold = false): number {
  const quick = phase === "PREPARE" || phase === "CLEANUP" || phase === "ABORT" ? 250 : 100;
  return elapsedMs < 15_000 && !isTold ? quick : TOLD_MS;
}

/** How soon a move goes on whose steps somebody contests all the time, in ms. */
export const PAUSE_MS = 250;
