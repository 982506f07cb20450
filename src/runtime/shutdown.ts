import type { Clock } from "../domain/clock.ts";
import { UnavailableError } from "../domain/errors.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { abandonable } from "./kube/signals.ts";
import { limitTime } from "./kube/time-limit.ts";

/** The part of `process` that is needed, so that a test can stand in for it. */
export interface ProcessEvents {
  on(event: "SIGTERM" | "SIGINT", listener: (signal: string) => void): unknown;
  on(event: "unhandledRejection" | "uncaughtException", listener: (reason: unknown) => void): unknown;
  exit(code: number): void;
}

export interface ShutdownOptions {
  readonly events: ProcessEvents;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Time for everything together. */
  readonly deadlineMs?: number;
}

export interface Shutdown {
  /** Aborts when the process is asked to stop. It works on until others are prepared to take over. */
  readonly asked: AbortSignal;
  /** Aborts when the process begins to stop: what waits for work may end by itself. */
  readonly signal: AbortSignal;
  /**
   * Adds something that prepares others to take over, before anything stops. All of these are begun at once, and waited for during a fifth of the time for
   * everything at most: then the function's signal aborts.
   */
  handOver(prepare: (signal: AbortSignal) => Promise<void>): void;
  /**
   * Adds something that must be stopped. The last added is stopped first, so that nothing loses what it stands on; the
   * function's signal aborts when the time is over. What is added while others are being stopped is stopped next.
   */
  add(name: string, stop: (signal: AbortSignal) => Promise<void>): void;
  /** Stops everything and leaves the process with `code`. May be called again; the first call counts. */
  stop(reason: string, code?: number): Promise<void>;
}

/** The share of the time for everything that others get to prepare. */
const HAND_OVER = 1 / 5;
/** Kubernetes kills 30 s after SIGTERM by default; some of it may be gone when we hear of it. */
const DEFAULT_DEADLINE_MS = 25_000;

interface Step {
  readonly name: string;
  readonly stop: (signal: AbortSignal) => Promise<void>;
}

/**
 * Takes over how the process ends. The first SIGTERM or SIGINT lets others prepare to take over, stops everything in order and exits with 0; with 1 when a
 * step failed or the time ran out. A second signal exits at once. An exception or rejection nobody caught means that our state
 * is unknown: it is logged and counted, and the process exits at once with 1; the loops of the next one put things right.
 */
export function installShutdown({ events, clock, log, metrics, deadlineMs = DEFAULT_DEADLINE_MS }: ShutdownOptions): Shutdown {
  const [asking, stopping] = [new AbortController(), new AbortController()];
  const handOvers: ((signal: AbortSignal) => Promise<void>)[] = [];
  const steps: Step[] = [];
  const uncaught = metrics.counter("argosy_uncaught_errors_total", "Errors nobody caught; each ends the process", ["kind"]);
  let ending: Promise<void> | undefined;

  const stop = (reason: string, code = 0): Promise<void> => {
    ending ??= end(reason, code);
    return ending;
  };
  const end = async (reason: string, code: number): Promise<void> => {
    log.info({ reason, steps: steps.length }, "Stopping");
    const askedAtMs = clock.monotonicMs();
    // To whoever was waiting for something, this is like a server that went away, and no mistake of ours.
    const why = new UnavailableError(`the process stops: ${reason}`, { code: "runtime.stopping" });
    asking.abort(why);
    if (handOvers.length > 0) await handOverAll(handOvers, { clock, log, forMs: deadlineMs * HAND_OVER });
    stopping.abort(why);
    const isClean = await stopAll(steps, { clock, log, deadlineMs: deadlineMs - (clock.monotonicMs() - askedAtMs) });
    log.info({ clean: isClean }, "Leaving");
    events.exit(isClean ? code : 1);
  };
  const onSignal = (name: string): void => {
    if (ending === undefined) return void stop(name);
    log.warn({ signal: name }, "Leaving at once");
    events.exit(1);
  };
  const onUncaught =
    (kind: string) =>
    (err: unknown): void => {
      uncaught.add(1, { kind });
      log.error({ err, kind }, "Leaving after an error nobody caught");
      events.exit(1);
    };

  events.on("SIGTERM", onSignal);
  events.on("SIGINT", onSignal);
  events.on("unhandledRejection", onUncaught("rejection"));
  events.on("uncaughtException", onUncaught("exception"));
  return {
    asked: asking.signal,
    signal: stopping.signal,
    handOver: (prepare) => void handOvers.push(prepare),
    add: (name, stopStep) => void steps.push({ name, stop: stopStep }),
    stop,
  };
}

/** Resolves when others are prepared, or the time is up. What fails is left: others take over without having prepared. */
async function handOverAll(
  handOvers: readonly ((signal: AbortSignal) => Promise<void>)[],
  { clock, log, forMs }: { readonly clock: Clock; readonly log: Log; readonly forMs: number },
): Promise<void> {
  const limit = limitTime({ clock, doing: "letting others prepare to take over", timeoutMs: forMs }, new AbortController().signal);
  const prepared = handOvers.map((prepare) =>
    prepare(limit.signal).catch((err: unknown) => log.warn({ err }, "Stopping though others may not be prepared to take over")),
  );
  await abandonable(Promise.all(prepared), limit.signal).catch(() => undefined);
  limit.release();
}

/** Whether all ended well and in time. Takes steps from the end while there are any, so late additions are stopped too. */
async function stopAll(
  steps: Step[],
  { clock, log, deadlineMs }: { readonly clock: Clock; readonly log: Log; readonly deadlineMs: number },
): Promise<boolean> {
  const deadline = new AbortController();
  const timeIsUp = new Promise<"late">((resolve) => deadline.signal.addEventListener("abort", () => resolve("late"), { once: true }));
  const cancel = clock.after(deadlineMs, () => deadline.abort(new Error(`stopping took more than ${deadlineMs} ms`)));
  let isClean = true;
  for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
    log.debug({ step: step.name }, "Stopping a part");
    const outcome = await Promise.race([stopOne(step, deadline.signal, log), timeIsUp]);
    if (outcome === "late") {
      log.error({ step: step.name, notStopped: steps.map((other) => other.name) }, "Leaving although not everything has stopped");
      return false;
    }
    isClean &&= outcome === "stopped";
  }
  cancel();
  return isClean;
}

async function stopOne(step: Step, signal: AbortSignal, log: Log): Promise<"stopped" | "failed"> {
  try {
    await step.stop(signal);
    return "stopped";
  } catch (err) {
    log.error({ err, step: step.name }, "Going on after a part failed to stop");
    return "failed";
  }
}
