import type { Clock } from "../../domain/clock.ts";
import type { Rng } from "../../domain/rng.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { createKeyedQueue } from "../keyed-queue.ts";
import { every } from "../timer/every.ts";

/** A comparison of everything with everything, or a read of what every key needs. It finds what events failed to tell. */
export interface Sweep {
  /** Longest time between two runs, in ms. */
  readonly everyMs: number;
  /** Which part of that time is left to chance, 0 to 1; absent: as much as with other timers. */
  readonly jitter?: number;
  readonly run: (signal: AbortSignal) => Promise<void>;
}

export interface SweepsOptions<Name extends string> {
  /** Label of the metrics and the log. */
  readonly name: string;
  readonly sweeps: Readonly<Record<Name, Sweep>>;
  /** Sweeps that have to end well once, one after the other, before any other sweep runs. */
  readonly first: readonly NoInfer<Name>[];
  /** Sweeps that run as soon as the first ones have ended well. Those that stand in neither list wait for their time. */
  readonly next: readonly NoInfer<Name>[];
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Log;
  readonly metrics: Metrics;
}

export interface Sweeps<Name extends string> {
  /** Begins, and calls `onReady` once when the first sweeps have ended well. The timers end with the signal. */
  start(signal: AbortSignal, onReady: () => void): void;
  /** Asks for a run as soon as possible. What is asked for before the first sweeps have ended runs after them. */
  add(name: Name): void;
  /** Starts no more sweeps and resolves when those under way have ended. */
  stop(): Promise<void>;
}

/** Creates sweeps that run on a timer and when asked for: each never twice at once, and again with back-off after it failed. */
export function createSweeps<Name extends string>(options: SweepsOptions<Name>): Sweeps<Name> {
  const { sweeps, first, next } = options;
  const names = Object.keys(sweeps) as Name[];
  /** Sweeps that were asked for too early. */
  const held = new Set<Name>();
  /** How many of the first sweeps have ended well. */
  let stage = 0;
  let onReady = (): void => {};

  /** The stage from which on a sweep may run: its place among the first ones, or behind all of them. */
  const stageOf = (name: Name): number => (first.includes(name) ? first.indexOf(name) : first.length);

  async function work(name: Name, signal: AbortSignal): Promise<void> {
    if (stageOf(name) > stage) return void held.add(name);
    await sweeps[name].run(signal);
    if (first[stage] !== name) return;
    stage += 1;
    goOn();
  }

  const goOn = (): void => {
    const due = first[stage];
    if (due !== undefined) return queue.add(due);
    onReady();
    for (const name of new Set([...next, ...held])) queue.add(name);
  };

  const queue = createKeyedQueue({ ...options, concurrency: names.length, work: (name, signal) => work(name as Name, signal) });
  return {
    start(signal, listener) {
      onReady = listener;
      for (const name of names) every({ ...options, ...sweeps[name], ms: sweeps[name].everyMs, run: () => queue.add(name) }, signal);
      goOn();
      queue.start();
    },
    add: (name) => queue.add(name),
    stop: queue.stop,
  };
}
