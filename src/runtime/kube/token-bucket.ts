import type { Clock } from "../../domain/clock.ts";
import { sleep } from "../clock.ts";

export interface TokenBucket {
  /** Resolves when one more may be sent. Turns are given in the order they were asked for; a turn that was aborted is lost. */
  take(signal: AbortSignal): Promise<void>;
}

/** Lets `perSecond` pass per second on average and one second's worth at once. */
export function createTokenBucket(perSecond: number, clock: Clock): TokenBucket {
  const intervalMs = 1_000 / perSecond;
  const burstMs = Math.max(1_000, intervalMs) - intervalMs;
  // The moment at which the bucket would be full again, as in the generic cell rate algorithm: one number instead of a timer.
  let fullAt = Number.NEGATIVE_INFINITY;
  return {
    async take(signal) {
      const now = clock.monotonicMs();
      const due = Math.max(fullAt, now);
      fullAt = due + intervalMs;
      const delayMs = due - burstMs - now;
      if (delayMs > 0) await sleep(clock, delayMs, signal);
    },
  };
}
