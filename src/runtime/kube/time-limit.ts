import type { Clock } from "../../domain/clock.ts";
import { UnavailableError } from "../../domain/errors.ts";
import { linkSignal } from "./signals.ts";

/** A signal that is aborted with its parent, or with `UnavailableError` (`kube.timeout`) when time is up. */
export interface TimeLimit {
  readonly signal: AbortSignal;
  /** Lifts the limit; the parent still counts. */
  stopTimer(): void;
  /** To be called when what was limited is over. */
  release(): void;
}

/** @param limit.doing names in the error what took too long */
export function limitTime(
  limit: { readonly clock: Clock; readonly doing: string; readonly timeoutMs: number },
  signal: AbortSignal,
): TimeLimit {
  const { clock, doing, timeoutMs } = limit;
  const linked = linkSignal(signal);
  const stopTimer = clock.after(timeoutMs, () => {
    linked.abort(new UnavailableError(doing, { code: "kube.timeout", context: { timeoutMs } }));
  });
  return {
    signal: linked.signal,
    stopTimer,
    release() {
      stopTimer();
      linked.release();
    },
  };
}
