import { createHash } from "node:crypto";
import process from "node:process";
import { setImmediate } from "node:timers/promises";
import { type Millis, millis } from "../../domain/clock.ts";
import type { Rng } from "../../domain/rng.ts";
import { createHeap, type HeapNode } from "../../runtime/heap.ts";
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
  /** Runs something later; the returned function cancels it. `what` goes into the trace. */
  schedule(delayMs: number, what: string, run: () => void): () => void;
  /** Records what happened, for the checkers. */
  record(happening: Happening): void;
  /** Lets time pass. After each event every promise that is ready goes on before the next one. */
  run(forMs: number): Promise<void>;
  /** SHA-256 over every event that was run and everything recorded so far. */
  traceHash(): string;
  /** Events run so far. */
  events(): number;
  /** Ends the world: time does not go on. Whatever waits is aborted, because it would keep the whole world in memory. */
  close(): void;
  /** Calls it when the world is closed. */
  onClose(run: () => void): void;
}

/** 2026-01-01T00:00:00Z: the same in every run. */
const BEGINNING_MS = 1_767_225_600_000;

const SHORTEST_MS = 0.001;

/** Far more events than any scenario has: beyond this something repeats for ever without time passing. */
const LONGEST_RUN = 1_000_000;

interface Event {
  readonly what: string;
  readonly run: () => void;
}

/** After so many events at the latest the process handles signals and writes its output. */
const BREATHER = 2_000;
/** The trace is hashed in pieces of about this length: each call of the hash costs as much as hashing some kilobytes. */
const TRACE_PIECE = 32_768;

/**
 * Creates a world in which nothing has happened yet. It throws after `longestRun` events. Two worlds of one seed in which the same things
 * are scheduled are the same to the byte.
 */
export function createWorld(seed: string | number, history: History, longestRun = LONGEST_RUN): World {
  const heap = createHeap<Event>();
  const trace = createTrace();
  const closing: (() => void)[] = [];
  let nowMs = 0;
  let count = 0;
  let [stampedMs, stamp] = [0, "0"];
  /** The time as text. It is kept because printing a fraction costs as much as hashing an event, and many events have the same time. */
  const stamped = (): string => {
    if (stampedMs !== nowMs) [stampedMs, stamp] = [nowMs, String(nowMs)];
    return stamp;
  };

  const runNext = (node: HeapNode<Event>): void => {
    heap.remove(node);
    nowMs = node.at;
    count += 1;
    const { what, run } = node.value;
    if (count > longestRun) throw new Error(`more than ${longestRun} events: somebody turns in circles, now ${what} at ${nowMs} ms`);
    trace.add(`${stamped()} ${what}\n`);
    run();
  };
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
      trace.add(`${stamped()}!${happening.kind}\n`);
      history.add(nowMs, happening);
    },
    async run(forMs) {
      const until = nowMs + forMs;
      await setImmediate();
      for (let next = heap.peek(); next !== undefined && next.at <= until; next = heap.peek()) {
        runNext(next);
        if (count % BREATHER === 0) await setImmediate();
        else await afterPromises();
      }
      nowMs = until;
    },
    traceHash: trace.hash,
    events: () => count,
    close: () => closing.splice(0).forEach((run) => run()),
    onClose: (run) => void closing.push(run),
  };
}

/**
 * Resolves when no promise is ready any more: Node empties the whole queue of microtasks before it runs what is due in the next tick, and
 * what asks for the tick here is itself at the end of that queue. Far cheaper than an immediate, which polls the system for events.
 */
function afterPromises(): Promise<void> {
  return new Promise((resolve) => queueMicrotask(() => process.nextTick(resolve)));
}

function createTrace() {
  const hash = createHash("sha256");
  let piece = "";
  const flush = (): void => {
    hash.update(piece);
    piece = "";
  };
  return {
    add(line: string): void {
      piece += line;
      if (piece.length > TRACE_PIECE) flush();
    },
    hash(): string {
      flush();
      return hash.copy().digest("hex");
    },
  };
}

/**
 * Times are whole microseconds, and a delay is one at least: sums of fractions that differ in their last bit would else be early by
 * nothing, and be waited for again, for ever.
 */
function toMicros(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}
