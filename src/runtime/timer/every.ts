import type { Clock } from "../../domain/clock.ts";
import type { Rng } from "../../domain/rng.ts";
import type { Log } from "../../telemetry/log.ts";

export interface EveryOptions {
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Log;
  /** Longest time between two calls, and before the first. */
  readonly ms: number;
  /** Which part of that time is left to chance, 0 to 1, so that replicas started together do not stay together. */
  readonly jitter?: number;
  /** Adds keys to a queue or pokes a loop; anything longer belongs behind a queue. */
  readonly run: () => void;
}

const DEFAULT_JITTER = 0.2;

/** Calls a function again and again until the signal aborts. What it throws is logged and ends nothing. */
export function every({ clock, rng, log, ms, jitter = DEFAULT_JITTER, run }: EveryOptions, signal: AbortSignal): void {
  if (signal.aborted) return;
  const onDue = (): void => {
    cancel = arm();
    try {
      run();
    } catch (err) {
      log.error({ err }, "Trying again after a timer's function failed");
    }
  };
  const arm = (): (() => void) => clock.after(ms * (1 - jitter * rng.next()), onDue);
  let cancel = arm();
  signal.addEventListener("abort", () => cancel(), { once: true });
}
