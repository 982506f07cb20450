import PQueue from "p-queue";
import type { Clock } from "../domain/clock.ts";
import type { Rng } from "../domain/rng.ts";
import type { Log, LogFields } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { BackoffRange } from "./backoff.ts";
import { createDelayLine } from "./delay-line.ts";
import { createFairLine } from "./fair-line.ts";
import type { HeapNode } from "./heap.ts";
import { createQueueMeter } from "./queue-meter.ts";
import { type AfterFailure, afterFailure } from "./retry-policy.ts";

export interface KeyedQueue {
  /**
   * Asks for one run of the work for this key, now or after `afterMs`. A key that waits is not added twice: the earlier time
   * wins, so an add without delay overtakes a delay and a back-off (whose count of failures stays). A key that runs is run
   * once more afterwards. Before `start` keys only gather; after `stop` adding does nothing.
   */
  add(key: string, options?: { readonly group?: string; readonly afterMs?: number }): void;
  /** Keys whose time has come and that wait for their turn. */
  depth(): number;
  /** How long the first of them has waited, in ms; 0 when none waits. */
  oldestAgeMs(): number;
  /** Resolves when nothing runs and nothing waits for its turn; keys with a delay ahead of them do not count. */
  idle(): Promise<void>;
  start(): void;
  /** Starts no more runs and resolves when those under way have ended; after `graceMs` their signal aborts. */
  stop(): Promise<void>;
}

/** What a run that went well may ask for. */
export type WorkResult = { readonly requeueAfterMs?: number };

export interface KeyedQueueOptions {
  /** Label of the metrics and the log. */
  readonly name: string;
  /** How many keys may run at once. */
  readonly concurrency: number;
  readonly work: (key: string, signal: AbortSignal) => Promise<WorkResult | void>;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly backoff?: BackoffRange;
  /** How long `stop` lets runs end by themselves. */
  readonly graceMs?: number;
}

const DEFAULT_BACKOFF: BackoffRange = { minMs: 500, maxMs: 60_000 };
const DEFAULT_GRACE_MS = 10_000;

interface Entry {
  readonly key: string;
  group: string;
  state: "waiting" | "delayed" | "running";
  /** Failures in a row. */
  failures: number;
  timer: HeapNode<Entry> | undefined;
  /** While running: when it is to run again, on the monotonic clock. */
  againAt: number | undefined;
}

/**
 * Creates a queue of keys, each of which is worked on by one run at a time. Keys of different groups take turns, so that a
 * group with many keys delays another by no more than one run per turn. What becomes of a key whose work throws is decided
 * by the error's class (see `retry-policy.ts`).
 */
export function createKeyedQueue(options: KeyedQueueOptions): KeyedQueue {
  const { name, concurrency, work, clock, log, rng, backoff = DEFAULT_BACKOFF, graceMs = DEFAULT_GRACE_MS } = options;
  const entries = new Map<string, Entry>();
  const line = createFairLine<Entry>();
  const delayed = createDelayLine<Entry>({ clock, onDue: (entry) => wait(entry) });
  const pool = new PQueue({ concurrency });
  const abort = new AbortController();
  const idleWaiters: (() => void)[] = [];
  let phase: "new" | "started" | "stopped" = "new";
  let running = 0;
  const oldestAgeMs = (): number => Math.max(0, clock.monotonicMs() - (line.oldestSince() ?? Number.POSITIVE_INFINITY));
  const meter = createQueueMeter({ metrics: options.metrics, queue: name, depth: line.size, oldestAgeMs });

  /** Puts an entry where its time says; a delay that is there already stays when it ends sooner. */
  const schedule = (entry: Entry, at: number): void => {
    if (entry.timer !== undefined) {
      if (entry.timer.at <= at) return;
      delayed.remove(entry.timer);
      entry.timer = undefined;
    }
    if (at <= clock.monotonicMs()) return wait(entry);
    entry.state = "delayed";
    entry.timer = delayed.add(at, entry);
  };

  const wait = (entry: Entry): void => {
    entry.timer = undefined;
    entry.state = "waiting";
    line.push(entry.group, entry, clock.monotonicMs());
    fill();
  };

  /** Hands the pool as many turns as it has room for; which key a turn is for is decided when it begins. */
  const fill = (): void => {
    while (phase === "started" && running < concurrency) {
      const entry = line.shift();
      if (entry === undefined) break;
      running += 1;
      entry.state = "running";
      entry.againAt = undefined;
      void pool.add(() => run(entry));
    }
    if (running === 0 && (line.size() === 0 || phase === "stopped")) for (const resolve of idleWaiters.splice(0)) resolve();
  };

  const run = async (entry: Entry): Promise<void> => {
    const startedAt = clock.monotonicMs();
    let again: number | undefined;
    try {
      const result = await work(entry.key, abort.signal);
      entry.failures = 0;
      again = result?.requeueAfterMs;
    } catch (error) {
      again = onFailure(entry, error);
    }
    meter.worked(clock.monotonicMs() - startedAt);
    running -= 1;
    settle(entry, again);
    fill();
  };

  /** Returns after how many ms to run again, `undefined` for not. */
  const onFailure = (entry: Entry, error: unknown): number | undefined => {
    if (abort.signal.aborted) return undefined;
    const failures = entry.failures + 1;
    const next = afterFailure(error, failures, { backoff, draw: rng.next() });
    entry.failures = next.kind === "again" ? failures : 0;
    if (next.kind !== "done") meter.failed(next.class);
    report(log, { queue: name, key: entry.key, failures, err: error }, next);
    return next.kind === "again" ? next.afterMs : undefined;
  };

  const settle = (entry: Entry, againAfterMs: number | undefined): void => {
    const again = againAfterMs === undefined ? undefined : clock.monotonicMs() + againAfterMs;
    const at = again === undefined || (entry.againAt !== undefined && entry.againAt < again) ? entry.againAt : again;
    if (at === undefined || phase === "stopped") entries.delete(entry.key);
    else schedule(entry, at);
  };

  const idle = (): Promise<void> =>
    new Promise((resolve) => {
      idleWaiters.push(resolve);
      fill();
    });

  return {
    add(key, { group, afterMs = 0 } = {}) {
      if (phase === "stopped") return;
      const at = clock.monotonicMs() + afterMs;
      const known = entries.get(key);
      if (known === undefined) {
        const entry: Entry = { key, group: group ?? "", state: "delayed", failures: 0, timer: undefined, againAt: undefined };
        entries.set(key, entry);
        schedule(entry, at);
        return;
      }
      if (known.state !== "waiting") known.group = group ?? known.group;
      if (known.state === "running") known.againAt = Math.min(known.againAt ?? at, at);
      else if (known.state === "delayed") schedule(known, at);
    },
    depth: line.size,
    oldestAgeMs,
    idle,
    start() {
      if (phase === "new") phase = "started";
      fill();
    },
    async stop() {
      phase = "stopped";
      delayed.stop();
      const cancel = clock.after(graceMs, () => abort.abort(new Error(`the queue ${name} stops`)));
      await idle();
      cancel();
    },
  };
}

function report(log: Log, fields: LogFields, next: AfterFailure): void {
  if (next.kind === "done") log.debug(fields, "Treating the key as deleted");
  else if (next.kind === "dropped") log.warn(fields, "Leaving the key until something changes");
  else if (next.class === "defect") log.error({ ...fields, afterMs: next.afterMs }, "Trying again after a defect");
  else if (next.class === "stale") log.debug({ ...fields, afterMs: next.afterMs }, "Reading again");
  else log.warn({ ...fields, afterMs: next.afterMs }, "Backing off");
}
