import { setImmediate } from "node:timers/promises";
import type { Clock } from "../domain/clock.ts";

/** How long some work keeps the event loop before others have a turn, in ms. Its pauses are far closer to each other than that. */
const TURN_MS = 10;

/**
 * Carries out work that pauses now and then, and lets everything else that waits in this process have its turn at the first pause after each ten milliseconds. Rejects
 * with the signal's reason once that aborts. Work that takes less time waits for nobody.
 */
export async function giveTurns<Result>(work: Iterator<unknown, Result, void>, clock: Clock, signal: AbortSignal): Promise<Result> {
  let since = clock.monotonicMs();
  for (;;) {
    const next = work.next();
    if (next.done === true) return next.value;
    if (clock.monotonicMs() - since < TURN_MS) continue;
    await setImmediate();
    signal.throwIfAborted();
    since = clock.monotonicMs();
  }
}
