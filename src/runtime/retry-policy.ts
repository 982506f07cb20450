import { GoneError, InputError, RefusedError, StaleError, UnavailableError } from "../domain/errors.ts";
import { type BackoffRange, backoffMs } from "./backoff.ts";

/** How often in a row a stale read is repeated at once: more means that somebody changes the same thing all the time. */
const STALE_AT_ONCE = 5;

export type FailureClass = "unavailable" | "stale" | "refused" | "input" | "defect";

/** What becomes of a key whose work threw. */
export type AfterFailure =
  /** What it worked on is gone: as good as success. */
  | { readonly kind: "done" }
  /** Trying again is of no use until something changes; what changes it adds the key. */
  | { readonly kind: "dropped"; readonly class: FailureClass }
  | { readonly kind: "again"; readonly class: FailureClass; readonly afterMs: number };

/**
 * Decides by the class of the error. `failures` counts the failures in a row with this one (1 or more), `draw` is uniform in
 * [0, 1). An `UnavailableError` that names a time is believed: never sooner, up to a fifth later, so that not all who were
 * sent away come back together. What is none of our classes is a defect.
 */
export function afterFailure(
  error: unknown,
  failures: number,
  { backoff, draw }: { readonly backoff: BackoffRange; readonly draw: number },
): AfterFailure {
  const waitMs = backoffMs(failures, backoff, draw);
  if (error instanceof GoneError) return { kind: "done" };
  if (error instanceof RefusedError) return { kind: "dropped", class: "refused" };
  if (error instanceof InputError) return { kind: "dropped", class: "input" };
  if (error instanceof StaleError) return { kind: "again", class: "stale", afterMs: failures <= STALE_AT_ONCE ? 0 : waitMs };
  if (error instanceof UnavailableError) {
    return { kind: "again", class: "unavailable", afterMs: Math.max(waitMs, Math.ceil((error.retryAfterMs ?? 0) * (1 + draw / 5))) };
  }
  return { kind: "again", class: "defect", afterMs: waitMs };
}
