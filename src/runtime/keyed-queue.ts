import PQueue from "p-queue";
import type { Clock } from "../domain/clock.ts";
import type { Rng } from "../domain/rng.ts";
import type { Log, LogFields } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { traced } from "../telemetry/tracing.ts";
import type { BackoffRange } from "./backoff.ts";
import { createQueueMeter, type QueueMeter } from "./queue-meter.ts";
import { type AfterFailure, afterFailure } from "./retry-policy.ts";
import { createWaitingKeys, type KeyEntry } from "./waiting-keys.ts";

export interface KeyOptions {
  readonly group?: string;
  readonly isBackground?: boolean;
  readonly afterMs?: number;
}

export interface KeyedQueue {
  /**
   * Asks for one run of the work for this key, now or after `afterMs`. A key that waits is not added twice: the earlier time
   * wins, so an add without delay overtakes a delay and a back-off (whose count of failures stays). A key that runs is run
   * once more afterwards. Before `start` keys only gather; after `stop` adding does nothing. `isBackground`: nobody waits for this run.
   * All such keys wait in one line, which takes turns like one group and gets as few runs; one that is added otherwise meanwhile leaves it at once.
   */
  add(key: string, options?: KeyOptions): void;
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

/** One run for one key. The signal aborts when the queue stops and the run does not end by itself. */
export type KeyedWork = (key: string, signal: AbortSignal) => Promise<WorkResult | void>;

/** A keyed queue that is given its work when it starts: so that work may be made of what adds keys to this very queue. */
export interface GatheringQueue extends Omit<KeyedQueue, "start"> {
  start(work: KeyedWork): void;
}

export interface KeyedQueueOptions {
  /** Label of the metrics and the log. */
  readonly name: string;
  /** How many keys may run at once. */
  readonly concurrency: number;
  /** How many of them may be of one group; absent: all. Groups that use up their share hold up nobody else. */
  readonly atOncePerGroup?: number;
  /** How many of them may be of one group while another one is being served; absent: as many as ever. */
  readonly besideOthers?: number;
  readonly work: KeyedWork;
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

/**
 * Creates a queue of keys, each of which is worked on by one run at a time. Keys of different groups take turns, so that a
 * group with many keys delays another by no more than one run per turn. What becomes of a key whose work throws is decided
 * by the error's class (see `retry-policy.ts`).
 */
export function createKeyedQueue({ work, ...options }: KeyedQueueOptions): KeyedQueue {
  const queue = createGatheringQueue(options);
  return { ...queue, start: () => queue.start(work) };
}

/** Creates a queue like `createKeyedQueue`, whose keys gather until it is started with the work for them. */
export function createGatheringQueue(options: Omit<KeyedQueueOptions, "work">): GatheringQueue {
  const { name, concurrency, clock, graceMs = DEFAULT_GRACE_MS, atOncePerGroup = concurrency } = options;
  const share = { alone: atOncePerGroup, besideOthers: options.besideOthers ?? atOncePerGroup };
  const keys = createWaitingKeys({ clock, onReady: askForRun, share });
  const pool = new PQueue({ concurrency, autoStart: false });
  const abort = new AbortController();
  const meter = createQueueMeter({ metrics: options.metrics, queue: name, ...keys });
  let phase: { readonly kind: "new" | "stopped" } | { readonly kind: "started"; readonly runOnce: Runner } = { kind: "new" };

  /** Asks the pool for one more run. Which key it is for is decided when it begins: until then the order stays open. */
  function askForRun(): void {
    if (phase.kind !== "stopped" && pool.size === 0 && keys.depth() > 0) void pool.add(runNext);
  }

  /** Runs the key whose turn it is. None may be taken where all that wait are of groups that have used up their share. */
  async function runNext(): Promise<void> {
    const entry = phase.kind === "started" ? keys.take() : undefined;
    if (entry === undefined || phase.kind !== "started") return;
    const { runOnce } = phase;
    // In a microtask: a call would begin the next run inside this one, and that the one after it, a thousand deep.
    queueMicrotask(askForRun);
    keys.release(entry, await runOnce(entry));
    askForRun();
  }

  return {
    add(key, { group, isBackground = false, afterMs = 0 } = {}) {
      if (phase.kind !== "stopped") keys.add(key, { group, isBackground, afterMs });
    },
    depth: keys.depth,
    oldestAgeMs: keys.oldestAgeMs,
    idle: () => pool.onIdle(),
    start(work) {
      if (phase.kind === "new") phase = { kind: "started", runOnce: createRunner(options, { work, meter, signal: abort.signal }) };
      pool.start();
    },
    async stop() {
      phase = { kind: "stopped" };
      keys.stop();
      pool.clear();
      const cancel = clock.after(graceMs, () => abort.abort(new Error(`the queue ${name} stops`)));
      await pool.onIdle();
      cancel();
    },
  };
}

interface RunnerDeps {
  readonly work: KeyedWork;
  readonly meter: QueueMeter;
  readonly signal: AbortSignal;
}

/** One run for one key: never rejects, and returns after how many ms the key is to run again, `undefined` for not. */
type Runner = (entry: KeyEntry) => Promise<number | undefined>;

function createRunner(
  { name, clock, log, rng, backoff = DEFAULT_BACKOFF }: Omit<KeyedQueueOptions, "work">,
  { work, meter, signal }: RunnerDeps,
): Runner {
  const onFailure = (entry: KeyEntry, error: unknown): number | undefined => {
    // What was cut short by our own stopping has not failed.
    if (signal.aborted) return undefined;
    const failures = entry.failures + 1;
    const next = afterFailure(error, failures, { backoff, draw: rng.next() });
    entry.failures = next.kind === "again" ? failures : 0;
    if (next.kind !== "done") meter.failed(next.class);
    report(log, { queue: name, key: entry.key, failures, err: error }, next);
    return next.kind === "again" ? next.afterMs : undefined;
  };

  return async (entry: KeyEntry): Promise<number | undefined> => {
    const startedAt = clock.monotonicMs();
    const attributes = { "argosy.queue": name, "argosy.key": entry.key, "argosy.failures": entry.failures };
    try {
      // A trace of its own, for runs ask for each other without end. Their attributes say what they have in common.
      const result = await traced({ name: `reconcile ${name}`, isRoot: true, attributes }, () => work(entry.key, signal));
      entry.failures = 0;
      return result?.requeueAfterMs;
    } catch (error) {
      return onFailure(entry, error);
    } finally {
      meter.worked(clock.monotonicMs() - startedAt);
    }
  };
}

function report(log: Log, fields: LogFields, next: AfterFailure): void {
  if (next.kind === "done") log.debug(fields, "Treating the key as deleted");
  else if (next.kind === "dropped") log.warn(fields, "Leaving the key until something changes");
  else if (next.class === "defect") log.error({ ...fields, afterMs: next.afterMs }, "Trying again after a defect");
  // What goes on being stale is a fight over an object, or a defect of ours: nobody would see either.
  else if (next.class === "stale" && next.afterMs === 0) log.debug({ ...fields, afterMs: next.afterMs }, "Reading again");
  else log.warn({ ...fields, afterMs: next.afterMs }, "Backing off");
}
