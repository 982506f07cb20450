import { createFifo, type Fifo } from "./fifo.ts";

/** Values that wait, in groups that take turns. All operations are O(1) but `oldestSince`, which is O(groups). */
export interface FairLine<T> {
  push(group: string, value: T, sinceMs: number): void;
  /** The value whose turn it is: the first of the open group that has not had a turn for longest. */
  shift(): T | undefined;
  /** From now on the group's values stay where they are. */
  close(group: string): void;
  /** The group takes turns again, behind those that take them now. */
  open(group: string): void;
  size(): number;
  /** `sinceMs` of the value that waits longest. */
  oldestSince(): number | undefined;
}

interface Waiting<T> {
  readonly value: T;
  readonly sinceMs: number;
}

/**
 * Creates an empty line: round robin over the groups, first come first served inside a group. With G groups waiting a value
 * that is n-th in its group has at most n·G values in front of it, however many another group has.
 */
export function createFairLine<T>(): FairLine<T> {
  const groups = new Map<string, Fifo<Waiting<T>>>();
  /** Names of the groups that have something waiting, each once, in the order of their turns; a closed one leaves at its turn. */
  const turns = createFifo<string>();
  const queued = new Set<string>();
  const closed = new Set<string>();
  let size = 0;

  const takeTurn = (group: string): void => {
    if (queued.has(group) || closed.has(group) || !groups.has(group)) return;
    queued.add(group);
    turns.push(group);
  };
  const nextGroup = (): string | undefined => {
    for (;;) {
      const group = turns.shift();
      if (group === undefined) return undefined;
      queued.delete(group);
      if (!closed.has(group)) return group;
    }
  };
  return {
    push(group, value, sinceMs) {
      let line = groups.get(group);
      if (line === undefined) {
        line = createFifo();
        groups.set(group, line);
      }
      line.push({ value, sinceMs });
      size += 1;
      takeTurn(group);
    },
    shift() {
      const group = nextGroup();
      const line = group === undefined ? undefined : groups.get(group);
      const first = line?.shift();
      if (group === undefined || line === undefined || first === undefined) return undefined;
      size -= 1;
      if (line.size() === 0) groups.delete(group);
      takeTurn(group);
      return first.value;
    },
    close: (group) => void closed.add(group),
    open(group) {
      if (closed.delete(group)) takeTurn(group);
    },
    size: () => size,
    oldestSince() {
      let oldest: number | undefined;
      for (const line of groups.values()) {
        const since = line.peek()?.sinceMs;
        if (since !== undefined && (oldest === undefined || since < oldest)) oldest = since;
      }
      return oldest;
    },
  };
}
