import type { Clock } from "../../domain/clock.ts";

/**
 * How long an instance is given to answer a new wish before its user is told that it is being worked on, in ms. Argo CD
 * reports a first status within half a second: most users are told once, with what they want to know.
 */
export const FIRST_STATUS_MS = 700;
/** By how much later each further wish of a burst is answered, about: what writing three objects takes an API server of two cores. */
const EACH_MS = 12;
/** Nobody waits longer for a first word. */
const LONGEST_MS = 8_000;

/** How long to wait for an instance's answer to a wish that comes now, in ms. */
export type Patience = () => number;

/**
 * Grows while wishes come faster than they are answered, as the level of a leaking bucket does, and is back at
 * {@link FIRST_STATUS_MS} when that is over: in a burst a word in between would be one write more for each wish, and would
 * keep its answer waiting.
 */
export function createPatience(clock: Clock): Patience {
  let answeredAtMs = clock.monotonicMs();
  return () => {
    const nowMs = clock.monotonicMs();
    const waitMs = FIRST_STATUS_MS + Math.max(0, answeredAtMs - nowMs);
    answeredAtMs = Math.min(Math.max(answeredAtMs, nowMs) + EACH_MS, nowMs + LONGEST_MS - FIRST_STATUS_MS);
    return waitMs;
  };
}
