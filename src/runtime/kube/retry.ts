import { UnavailableError } from "../../domain/errors.ts";
import type { BackoffRange } from "../backoff.ts";
import { backoffMs } from "../backoff.ts";

/** Attempts in all for one idempotent request; what lasts longer than these is the caller's queue's business. */
export const maxAttempts = 4;

/** A server that asks for more patience than this, in ms, is left to the caller, whose queue can do other work meanwhile. */
export const timeoutMs = 10_000;

const requestBackoff: BackoffRange = { minMs: 100, maxMs: 2_000 };

const passing: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);

/**
 * How long to wait before sending an idempotent request again, in ms, or `undefined` if it should not be sent again: the failure
 * is not of the passing sort, the server is known to be away, attempts are used up, or the server asked for more than `timeoutMs`.
 *
 * @param attempt how often it has been sent already, minus one
 * @param random uniform in [0, 1)
 */
export function nextRetryMs(error: unknown, attempt: number, random: number): number | undefined {
  if (!(error instanceof UnavailableError) || error.code === "kube.away" || attempt + 1 >= maxAttempts) return undefined;
  const status = error.context["status"];
  if (typeof status === "number" && !passing.has(status)) return undefined;
  const asked = error.retryAfterMs ?? 0;
  if (asked > timeoutMs) return undefined;
  // On top of what the server asked for, so that all clients it turned away do not come back in the same moment.
  return asked + backoffMs(attempt + 1, requestBackoff, random);
}
