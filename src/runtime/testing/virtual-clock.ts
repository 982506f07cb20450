import { type Clock, type Millis, millis } from "../../domain/clock.ts";
import { createHeap } from "../heap.ts";

/** A clock that stands still until a test advances it: for tests and for the simulation. */
export interface VirtualClock extends Clock {
  /**
   * Lets `ms` pass: runs what is due in order of time (equal times in the order asked for), after each lets every promise that
   * is ready go on, so that what these ask for is run in the same call when it is due too.
   */
  advance(ms: number): Promise<void>;
  /** The wall clock is set, forward or back by `ms`, as administrators and time servers do. No time passes: nothing becomes due. */
  set(ms: number): void;
  /** When the next timer is due, `undefined` when none is set. */
  nextAt(): Millis | undefined;
}

/** 2026-01-01T00:00:00Z, so that times printed by a test are easy to subtract in the head. */
const DEFAULT_START = 1_767_225_600_000;

/** Creates a clock that shows `startAt` (epoch ms). */
export function createVirtualClock(startAt: number = DEFAULT_START): VirtualClock {
  const timers = createHeap<() => void>();
  let nowMs = startAt;
  let setByMs = 0;
  return {
    now: () => millis(nowMs + setByMs),
    monotonicMs: () => nowMs - startAt,
    after(delayMs, run) {
      const node = timers.push(nowMs + Math.max(0, delayMs), run);
      return () => timers.remove(node);
    },
    async advance(ms) {
      const until = nowMs + ms;
      await settle();
      for (let next = timers.peek(); next !== undefined && next.at <= until; next = timers.peek()) {
        timers.remove(next);
        nowMs = Math.max(nowMs, next.at);
        next.value();
        await settle();
      }
      nowMs = until;
    },
    set(ms) {
      setByMs += ms;
    },
    nextAt() {
      const next = timers.peek();
      return next === undefined ? undefined : millis(next.at + setByMs);
    },
  };
}

/** Lets every promise that is ready go on: Node empties the whole microtask queue before the next immediate. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
