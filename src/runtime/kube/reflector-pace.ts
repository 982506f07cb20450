import { GoneError, UnavailableError } from "../../domain/errors.ts";
import type { BackoffRange } from "../backoff.ts";
import { backoffMs } from "../backoff.ts";

/** What the reflector's loop does after a list or a watch has come to its end. */
export interface Pace {
  readonly waitMs: number;
  /** Failures in a row, counted since a watch last worked. */
  readonly failures: number;
  /** Whether everything has to be listed again instead of watching on from the last version. */
  readonly mustRelist: boolean;
}

/** Long enough that a failing server is left in peace, short enough that its recovery is noticed within half a minute. */
const failureBackoff: BackoffRange = { minMs: 500, maxMs: 30_000 };

/** API servers end watches right after bursts of events; a longer pause would be felt, none would feed the load. */
const resumePause: BackoffRange = { minMs: 100, maxMs: 100 };

/** A watch that lived this long, in ms, worked, even if nothing happened to its objects. */
const goodLifeMs = 10_000;

export interface Turn {
  readonly failures: number;
  /** Whether an event or a bookmark came in. */
  readonly progressed: boolean;
  /** Uniform in [0, 1). */
  readonly random: number;
}

/** The pace after the server ended a watch without an error. One that ends at once and empty, again and again, is a failure like others. */
export function paceAfterEnd(turn: Turn & { readonly livedMs: number }): Pace {
  if (turn.livedMs >= goodLifeMs) return { waitMs: 0, failures: 0, mustRelist: false };
  if (turn.progressed) return { waitMs: backoffMs(1, resumePause, turn.random), failures: 0, mustRelist: false };
  return { ...backOff(turn, 0), mustRelist: false };
}

/**
 * The pace after a list or a watch broke. 410 and 404 (the server has forgotten the version, or the kind) mean listing again; a first 410 does so at
 * once, since it is the ordinary fate of a watch on quiet objects. Everything else resumes where it was, not before the server's
 * Retry-After.
 */
export function paceAfterError(error: unknown, turn: Turn & { readonly isListing: boolean }): Pace {
  const failures = turn.progressed ? 0 : turn.failures;
  const mustRelist = turn.isListing || error instanceof GoneError || (error instanceof UnavailableError && error.context["status"] === 404);
  if (error instanceof GoneError && !turn.isListing && failures === 0) return { waitMs: 0, failures: 1, mustRelist };
  const askedMs = error instanceof UnavailableError ? (error.retryAfterMs ?? 0) : 0;
  return { ...backOff({ ...turn, failures }, askedMs), mustRelist };
}

/** Jitter comes on top of what the server asked for, so that its clients do not all come back in the same moment. */
function backOff({ failures, random }: Turn, askedMs: number): { readonly waitMs: number; readonly failures: number } {
  return { waitMs: askedMs + backoffMs(failures + 1, failureBackoff, random), failures: failures + 1 };
}
