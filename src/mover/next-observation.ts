import type { Millis } from "../domain/clock.ts";
import type { Move, MovePhase } from "../domain/move.ts";
import type { MoveMessage } from "../domain/move-messages.ts";

interface Observed {
  readonly applications: boolean;
  readonly ownerBinding: boolean;
}

const NOTHING: Observed = { applications: false, ownerBinding: false };
const APPLICATIONS: Observed = { applications: true, ownerBinding: false };
const OWNER_BINDING: Observed = { applications: false, ownerBinding: true };

/** What each phase is decided from: the Applications on both instances, or the owner binding. Nothing else is read. */
export const OBSERVED: Readonly<Record<MovePhase, Observed>> = {
  WAITING: NOTHING,
  PREPARE: APPLICATIONS,
  FENCE: APPLICATIONS,
  QUIESCE: APPLICATIONS,
  REVOKE: OWNER_BINDING,
  COMMIT: NOTHING,
  GRANT: OWNER_BINDING,
  ACTIVATE: APPLICATIONS,
  VERIFY: APPLICATIONS,
  CLEANUP: APPLICATIONS,
  ABORT: APPLICATIONS,
  DONE: NOTHING,
  ABORTED: NOTHING,
  REDIRECTED: NOTHING,
};

/** What a phase is entered with. */
type Entered = { readonly to: MovePhase; readonly baseline?: Move["baseline"]; readonly message: string } & Partial<MoveMessage>;

interface Observation {
  readonly move: Move;
  readonly world: { readonly now: Millis };
}

/**
 * The last observation as one of the phase that the move has just entered, so that the next step needs no other; `undefined` where that phase
 * needs what was not observed, and where it deletes. It is no older than what any step is decided from, and every write tests what it was
 * decided from.
 */
export function carriedOver<T extends Observation>(
  observation: T,
  { to, baseline, message, messageCode }: Entered,
  now: Millis,
): T | undefined {
  const [had, needed] = [OBSERVED[observation.move.phase], OBSERVED[to]];
  if (to === "CLEANUP" || (needed.applications && !had.applications) || (needed.ownerBinding && !had.ownerBinding)) return undefined;
  const move = { ...observation.move, phase: to, phaseSince: now, message, messageCode, baseline: baseline ?? observation.move.baseline };
  return { ...observation, move, world: { ...observation.world, now } };
}

/** How soon a move that a watch wakes is observed again all the same, in ms: a change that no watch told of costs this much. */
const WATCHED_MS = 1_000;

/**
 * How soon a move that waits is observed again, in ms: often while users have no owner or soon will not, seldom when it takes long.
 * `isWatched`: a watch wakes it when what it waits for changes.
 */
export function observeAgainMs(phase: MovePhase, elapsedMs: number, isWatched = false): number {
  const quick = phase === "PREPARE" || phase === "CLEANUP" || phase === "ABORT" ? 250 : 100;
  return elapsedMs < 15_000 && !isWatched ? quick : WATCHED_MS;
}

/** How long after a change of one of its Applications a move is woken, in ms: changes of several Applications come together. */
export const WAKE_MS = 20;
