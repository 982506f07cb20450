import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { type Millis, millis } from "../../domain/clock.ts";
import type { Rng } from "../../domain/rng.ts";
import { createHeap } from "../../runtime/heap.ts";
import { createSeededRng } from "../../runtime/rng.ts";
import type { Happening, History } from "../history.ts";

/** Everything that ever happens in a simulation, in the order of time and, at one time, in the order it was asked for. */
export interface World {
  /** Milliseconds since the world began. */
  elapsedMs(): number;
  now(): Millis;
  /** Randomness of the world; a fork for each use, so that one more draw in one place renumbers nothing elsewhere. */
  readonly rng: Rng;
  readonly history: History;
  /** Runs something later; the returned function takes it back. `what` goes into the trace. */
  schedule(delayMs: number, what: string, run: () => void): () => void;
  /** Writes down what happened, for those who check it. */
  record(happening: Happening): void;
  /** Lets time pass. After each event every promise that is ready goes on before the next one. */
  run(forMs: number): Promise<void>;
  /** SHA-256 over every event that was run and everything recorded so far. */
  traceHash(): string;
  /** Events run so far. */
  events(): number;
}

/** 2026-01-01T00:00:00Z: the same in every run. */
const BEGINNING_MS = 1_767_225_600_000;

const SHORTEST_MS = 0.001;

/** Far more than any scenario has: beyond it something goes on for ever without time passing. */
const LONGEST_RUN = 1_000_000;

interface Event {
  readonly what: string;
  readonly run: () => void;
}

/** Creates a world in which nothing happens yet, and no more than `longestRun` events ever will. Two worlds of one seed in which the same is asked for are the same to the byte. */
export function createWorld(seed: string | number, history: History, longestRun = LONGEST_RUN): World {
  const heap = createHeap<Event>();
  const trace = createHash("sha256");
  let nowMs = 0;
  let count = 0;
  return {
    elapsedMs: () => nowMs,
    now: () => millis(BEGINNING_MS + Math.floor(nowMs)),
    rng: createSeededRng(seed),
    history,
    schedule(delayMs, what, run) {
      const node = heap.push(delayMs <= 0 ? nowMs : toMicros(Math.max(nowMs + SHORTEST_MS, nowMs + delayMs)), { what, run });
      return () => heap.remove(node);
    },
    record(happening) {
      trace.update(`${nowMs}!${happening.kind}\n`);
      history.add(nowMs, happening);
    },
    async run(forMs) {
      const until = nowMs + forMs;
      await setImmediate();
      for (let next = heap.peek(); next !== undefined && next.at <= until; next = heap.peek()) {
        heap.remove(next);
        nowMs = next.at;
        count += 1;
        if (count > longestRun)
          throw new Error(`more than ${longestRun} events: somebody turns in circles, now ${next.value.what} at ${nowMs} ms`);
        trace.update(`${nowMs} ${next.value.what}\n`);
        next.value.run();
        // Node empties the whole queue of microtasks before the next immediate.
        await setImmediate();
      }
      nowMs = until;
    },
    traceHash: () => trace.copy().digest("hex"),
    events: () => count,
  };
}

/**
 * Times are whole microseconds, and a delay is one at least: sums of fractions that differ in their last bit would else be early by
 * nothing, and be waited for again, for ever.
 */
function toMicros(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}
