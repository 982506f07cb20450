import process from "node:process";
import { getHeapStatistics } from "node:v8";
import type { Clock } from "../domain/clock.ts";
import type { Rng } from "../domain/rng.ts";
import type { Log } from "../telemetry/log.ts";
import { every } from "./timer/every.ts";

/** The memory of this process, and what it computes. */
export interface ProcessMemory {
  /** CPU that it has used since its start, in ms. */
  cpuMs(): number;
  /** What the heap of JavaScript takes of the machine, garbage and gaps included, in bytes. */
  heapBytes(): number;
  /** Collects all garbage and gives back what is free then. Nothing else runs meanwhile: 0.1 s with 60 MiB in use. */
  collect(): void;
}

export interface CollectAtRestDeps {
  /** Absent: the process was started without `--expose-gc`, and V8 alone decides. */
  readonly memory: ProcessMemory | undefined;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Log;
}

const CHECK_MS = 30_000;
/** A process that computed less than this between two checks is at rest: hardly anybody waits for it in the moment that a collection takes. */
const REST_CORES = 0.25;
/** How many times what the last collection left the heap has to take. */
const GROWTH = 1.1;

/**
 * Collects all garbage when a process has come to rest: after its start, and after it has listed what it gained. V8 collects when something is allocated,
 * and at rest hardly anything is: what was garbage then would stay for hours. It collects again after it has rested for twice as long, and so on, if the heap
 * has grown: a process that has just come to rest still holds what it is about to let go.
 */
export function collectAtRest({ memory, clock, rng, log }: CollectAtRestDeps, signal: AbortSignal): void {
  if (memory === undefined) return;
  let last = { cpuMs: memory.cpuMs(), atMs: clock.monotonicMs() };
  let leftBytes = 0;
  /** How many checks in a row have found it at rest. */
  let rested = 0;
  const check = (): void => {
    const now = { cpuMs: memory.cpuMs(), atMs: clock.monotonicMs() };
    const cores = (now.cpuMs - last.cpuMs) / Math.max(1, now.atMs - last.atMs);
    last = now;
    rested = cores < REST_CORES ? rested + 1 : 0;
    const heldBytes = memory.heapBytes();
    const isDue = rested > 0 && Number.isInteger(Math.log2(rested));
    if (!isDue || heldBytes < leftBytes * GROWTH) return;
    memory.collect();
    leftBytes = memory.heapBytes();
    log.debug({ heldBytes, leftBytes }, "Collected garbage");
  };
  every({ clock, rng, log, ms: CHECK_MS, run: check }, signal);
}

/** The memory of this process; `undefined` where Node.js lets nobody ask for a collection. */
export function processMemory(collect = globalThis.gc): ProcessMemory | undefined {
  if (collect === undefined) return undefined;
  return {
    cpuMs: () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1_000;
    },
    heapBytes: () => getHeapStatistics().total_heap_size,
    collect: () => void collect(),
  };
}
