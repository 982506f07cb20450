import type { Clock } from "../domain/clock.ts";
import { createHeap, type HeapNode } from "./heap.ts";

/** Values that wait for their time, with one timer for all of them. */
export interface DelayLine<T> {
  /** Hands the value over at `at`, on the monotonic clock; the result is for `remove`. */
  add(at: number, value: T): HeapNode<T>;
  remove(node: HeapNode<T>): void;
  /** Hands over nothing any more. */
  stop(): void;
}

/** Creates an empty line; `onDue` is called for each value in the order of their times. */
export function createDelayLine<T>({ clock, onDue }: { readonly clock: Clock; readonly onDue: (value: T) => void }): DelayLine<T> {
  const heap = createHeap<T>();
  let alarm: { readonly at: number; readonly cancel: () => void } | undefined;
  let isStopped = false;

  const setAlarm = (): void => {
    const next = heap.peek();
    if (isStopped || next === undefined || (alarm !== undefined && alarm.at <= next.at)) return;
    alarm?.cancel();
    alarm = { at: next.at, cancel: clock.after(next.at - clock.monotonicMs(), onAlarm) };
  };

  const onAlarm = (): void => {
    alarm = undefined;
    // A system timer may fire a fraction of a millisecond early by the monotonic clock; then it is set once more.
    const nowMs = clock.monotonicMs();
    for (let due = heap.peek(); due !== undefined && due.at <= nowMs; due = heap.peek()) {
      heap.remove(due);
      onDue(due.value);
    }
    setAlarm();
  };

  return {
    add(at, value) {
      const node = heap.push(at, value);
      setAlarm();
      return node;
    },
    // The alarm stays: it finds nothing due and is set for the next one then.
    remove: (node) => heap.remove(node),
    stop() {
      isStopped = true;
      alarm?.cancel();
    },
  };
}
