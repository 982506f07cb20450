import type { Clock } from "../../domain/clock.ts";
import { createFairLine } from "../../runtime/fair-line.ts";
import { parseKey } from "../keys.ts";

/** The line of what is repeated. */
export interface Repeats {
  /** Does nothing where the key waits or has its turn. */
  add(key: string): void;
  /** The turn of this key is over; nothing where it had none. */
  ended(key: string): void;
  /** How long the first of them has waited, in ms; 0 where none waits. */
  oldestAgeMs(): number;
}

export interface RepeatsOptions {
  readonly clock: Clock;
  /** How many have their turn at the same time. */
  readonly most: number;
  /** Begins what a key waits for. It may have been done meanwhile. */
  readonly begin: (key: string) => void;
}

/** Creates an empty line. Namespaces take turns in it. */
export function createRepeats({ clock, most, begin }: RepeatsOptions): Repeats {
  const line = createFairLine<string>();
  const inLine = new Set<string>();
  const begun = new Set<string>();

  const beginNext = (): void => {
    while (begun.size < most) {
      const key = line.shift();
      if (key === undefined) return;
      inLine.delete(key);
      begun.add(key);
      begin(key);
    }
  };
  return {
    add(key) {
      if (inLine.has(key) || begun.has(key)) return;
      inLine.add(key);
      line.push(parseKey(key).namespace, key, clock.monotonicMs());
      beginNext();
    },
    ended(key) {
      if (begun.delete(key)) beginNext();
    },
    oldestAgeMs: () => Math.max(0, clock.monotonicMs() - (line.oldestSince() ?? Number.POSITIVE_INFINITY)),
  };
}
