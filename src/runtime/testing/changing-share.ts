import type { Partition, ShareChange } from "../../domain/partition.ts";

/** A share that a test changes. */
export interface ChangingShare extends Partition {
  /** From now on exactly these keys are this process's, and listeners hear of it. */
  set(keys: readonly string[]): void;
}

export function createChangingShare(keys: readonly string[]): ChangingShare {
  const listeners = new Set<(change: ShareChange) => void>();
  let mine = new Set(keys);
  return {
    isMine: (key) => mine.has(key),
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    set(next) {
      const before = mine;
      mine = new Set(next);
      const gained = (key: string): boolean => mine.has(key) && !before.has(key);
      for (const listener of listeners) listener({ mayGain: next.some(gained), gained });
    },
  };
}
