import type { Clock } from "../../domain/clock.ts";

export interface Memory<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value, forMs: number): void;
  readonly size: number;
}

/** Keeps so many values for some time. The oldest makes room. */
export function createMemory<Value>(most: number, clock: Pick<Clock, "monotonicMs">): Memory<Value> {
  const values = new Map<string, { readonly value: Value; readonly until: number }>();
  return {
    get(key) {
      const found = values.get(key);
      if (found === undefined || found.until > clock.monotonicMs()) return found?.value;
      values.delete(key);
      return undefined;
    },
    set(key, value, forMs) {
      values.delete(key);
      if (values.size >= most) {
        const [oldest] = values.keys();
        if (oldest !== undefined) values.delete(oldest);
      }
      values.set(key, { value, until: clock.monotonicMs() + forMs });
    },
    get size() {
      return values.size;
    },
  };
}

/** Lets `perSecond` pass in a second on average and `atOnce` at once; says no, instead of waiting, to what is too much. */
export function createLimit(
  { perSecond, atOnce }: { readonly perSecond: number; readonly atOnce: number },
  clock: Pick<Clock, "monotonicMs">,
) {
  let left = atOnce;
  let atMs = clock.monotonicMs();
  return (): boolean => {
    const now = clock.monotonicMs();
    left = Math.min(atOnce, left + ((now - atMs) * perSecond) / 1000);
    atMs = now;
    if (left < 1) return false;
    left -= 1;
    return true;
  };
}
