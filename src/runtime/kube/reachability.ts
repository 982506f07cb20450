import type { Clock } from "../../domain/clock.ts";
import { UnavailableError } from "../../domain/errors.ts";
import { linkSignal } from "./signals.ts";

/** One request on its way. Of `answered`, `failed` and `left` the first one counts; `left` is called last, when nothing is read any more. */
export interface Visit {
  /** Aborted with its parent until `left`, also while an answer is read, or with `kube.away` once the server is taken for silent. */
  readonly signal: AbortSignal;
  /** The server said something, whatever it was. */
  answered(): void;
  /** No connection, or no answer in time. */
  failed(): void;
  /** It is over. */
  left(): void;
}

/** Whether a server is there, judged by what becomes of requests to it. */
export interface Reachability {
  /** Throws `UnavailableError` (`kube.away`) while the server is away and another request is finding out whether it is back. */
  enter(signal: AbortSignal): Visit;
}

/** Requests in a row that found nobody, after which the server counts as away; one alone may be a connection that had grown old. */
const FAILURES = 3;
/** How long several requests may wait with nobody being answered, in ms. A server under load is slow, but says something to somebody. */
const SILENCE_MS = 10_000;
/** One request without an answer may be a slow one, and stands in few others' way. */
const SEVERAL = 4;

interface UnderWay {
  readonly sinceMs: number;
  readonly abort: (reason: unknown) => void;
}

/**
 * Without it a server that is away would hold whoever asks for the whole time-out of each request, and a queue that serves several
 * servers would do nothing else. While it is away one request at a time is let through, whose answer opens the way for all.
 */
export function createReachability({ cluster, clock }: { readonly cluster: string; readonly clock: Clock }): Reachability {
  const underWay = new Set<UnderWay>();
  let answeredAtMs = clock.monotonicMs();
  let failures = 0;
  let cancelCheck: (() => void) | undefined;

  const away = (): UnavailableError => new UnavailableError("Reaching the API server", { code: "kube.away", context: { cluster } });
  const waitedMs = ({ sinceMs }: UnderWay): number => clock.monotonicMs() - Math.max(sinceMs, answeredAtMs);

  /** One look at a time, however many requests there are. */
  const watch = (): void => {
    if (cancelCheck !== undefined || underWay.size < SEVERAL) return;
    const longest = Math.max(...[...underWay].map(waitedMs));
    cancelCheck = clock.after(Math.max(1, SILENCE_MS - longest), observation);
  };
  const observation = (): void => {
    cancelCheck = undefined;
    const silent = [...underWay].filter((one) => waitedMs(one) >= SILENCE_MS);
    if (silent.length >= SEVERAL) {
      failures = FAILURES;
      for (const one of silent) one.abort(away());
    }
    watch();
  };

  return {
    enter(signal) {
      if (failures >= FAILURES && underWay.size > 0) throw away();
      const linked = linkSignal(signal);
      const one: UnderWay = { sinceMs: clock.monotonicMs(), abort: linked.abort };
      underWay.add(one);
      watch();
      const end = (note: () => void) => (): void => {
        if (!underWay.delete(one)) return;
        note();
        if (underWay.size > 0) return;
        cancelCheck?.();
        cancelCheck = undefined;
      };
      return {
        signal: linked.signal,
        answered: end(() => {
          answeredAtMs = clock.monotonicMs();
          failures = 0;
        }),
        failed: end(() => {
          failures += 1;
        }),
        left() {
          end(() => {})();
          linked.release();
        },
      };
    },
  };
}
