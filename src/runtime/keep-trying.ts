import type { Clock } from "../domain/clock.ts";
import type { Rng } from "../domain/rng.ts";
import type { HealthRegistry } from "../telemetry/health.ts";
import type { Log } from "../telemetry/log.ts";
import { type BackoffRange, backoffMs } from "./backoff.ts";
import { sleep } from "./clock.ts";

/** Why it is worth waiting after a failure. */
export interface Reason {
  /** Changes when the reason does; numbers and addresses in the sentence may change without. */
  readonly key: string;
  /** For people: what is missing, and what to do about it. */
  readonly sentence: string;
}

export interface KeepTryingOptions {
  /** What is waited for: the name of the readiness check, and in the log. */
  readonly name: string;
  /** Why a failure may pass without this process being started again; `undefined`: it never does. */
  readonly whyWait: (error: unknown) => Reason | undefined;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Log;
  readonly readiness: HealthRegistry;
}

/** Servers are back within seconds; whoever mends one for minutes can wait for a quarter of one more. */
const BACKOFF: BackoffRange = { minMs: 500, maxMs: 15_000 };

/**
 * Does something until it succeeds, with growing pauses in between, and returns what it returned. While it fails the process is not ready
 * and says why; the log has each reason once, until there is another one. Throws what never passes by waiting, and the signal's reason as
 * soon as that aborts.
 */
export async function keepTrying<T>(
  attempt: (signal: AbortSignal) => Promise<T>,
  { name, whyWait, clock, rng, log, readiness }: KeepTryingOptions,
  signal: AbortSignal,
): Promise<T> {
  let reason: Reason | undefined;
  let forget = (): void => {};
  try {
    for (let failures = 1; ; failures += 1) {
      try {
        const result = await attempt(signal);
        if (reason !== undefined) log.info({ waitedFor: name, attempts: failures }, "Going on: what was waited for is there");
        return result;
      } catch (error) {
        signal.throwIfAborted();
        const why = whyWait(error);
        if (why === undefined) throw error;
        if (why.key !== reason?.key) {
          log.warn({ err: error, waitsFor: name, reason: why.sentence }, "Waiting, and trying again until it works");
          failures = 1;
        }
        reason = why;
        forget();
        forget = readiness.register({ name, check: () => ({ ok: false, detail: why.sentence }) });
      }
      await sleep(clock, backoffMs(failures, BACKOFF, rng.next()), signal);
    }
  } finally {
    forget();
  }
}
