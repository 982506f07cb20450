import type { Clock } from "../domain/clock.ts";
import { millis } from "../domain/clock.ts";

/** Longest delay Node's timers take (2^31 − 1 ms); anything longer fires at once there, so it is reached in steps. */
const LONGEST_TIMEOUT_MS = 2_147_483_647;

/** The machine's time. */
export const systemClock: Clock = {
  now: () => millis(Date.now()),
  monotonicMs: () => performance.now(),
  after: (delayMs, run) => afterSystemTime(delayMs, run),
};

function afterSystemTime(delayMs: number, run: () => void): () => void {
  let timer: NodeJS.Timeout;
  const arm = (leftMs: number): void => {
    const stepMs = Math.min(leftMs, LONGEST_TIMEOUT_MS);
    timer = setTimeout(() => (leftMs > stepMs ? arm(leftMs - stepMs) : run()), stepMs);
  };
  arm(Math.max(0, delayMs));
  return () => clearTimeout(timer);
}

/** Resolves after `ms` of the clock's time; rejects with the signal's reason as soon as that aborts. */
export function sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const onAbort = (): void => {
      cancel();
      reject(signal.reason);
    };
    const cancel = clock.after(ms, () => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    });
    signal.addEventListener("abort", onAbort, { once: true });
  });
}
