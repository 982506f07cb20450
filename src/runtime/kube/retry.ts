import { UnavailableError } from "../../domain/errors.ts";

export interface BackoffRange {
  readonly minMs: number;
  readonly maxMs: number;
}

/**
 * Exponential back-off with half jitter: the n-th delay (from 0) lies in [½, 1) of `minMs · 2ⁿ`, which is capped at `maxMs`. Half
 * of it stays so that a broken server is never asked at once; the other half keeps clients that failed together apart.
 *
 * @param random uniform in [0, 1)
 */
export function backoffMs(attempt: number, range: BackoffRange, random: number): number {
  const full = Math.min(range.maxMs, range.minMs * 2 ** Math.min(attempt, 30));
  return full * (0.5 + random / 2);
}

/** Attempts in all for one idempotent request; what lasts longer than these is the caller's queue's business. */
export const maxAttempts = 4;

/** A server that asks for more patience than this, in ms, is left to the caller, whose queue can do other work meanwhile. */
export const patienceMs = 10_000;

const requestBackoff: BackoffRange = { minMs: 100, maxMs: 2_000 };

const passing: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);

/**
 * How long to wait before sending an idempotent request again, in ms, or `undefined` if it should not be sent again: the failure
 * is not of the passing sort, attempts are used up, or the server asked for more than `patienceMs`.
 *
 * @param attempt how often it has been sent already, minus one
 * @param random uniform in [0, 1)
 */
export function nextRetryMs(error: unknown, attempt: number, random: number): number | undefined {
  if (!(error instanceof UnavailableError) || attempt + 1 >= maxAttempts) return undefined;
  const status = error.context["status"];
  if (typeof status === "number" && !passing.has(status)) return undefined;
  const asked = error.retryAfterMs ?? 0;
  if (asked > patienceMs) return undefined;
  // On top of what the server asked for, so that all clients it turned away do not come back in the same moment.
  return asked + backoffMs(attempt, requestBackoff, random);
}
