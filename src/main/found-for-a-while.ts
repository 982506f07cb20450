import type { Clock } from "../domain/clock.ts";

interface Found<Value> {
  readonly answer: Promise<Value>;
  readonly untilMs: number;
}

/**
 * Returns `find`, whose answers for a key are given again for so many ms, to all who ask meanwhile too. What is not to be `kept`, and what is thrown, is looked for anew by the next who
 * asks.
 */
export function foundForAWhile<Value>(
  find: (key: string, signal: AbortSignal) => Promise<Value>,
  { clock, ms, kept }: { readonly clock: Pick<Clock, "monotonicMs">; readonly ms: number; readonly kept: (value: Value) => boolean },
): (key: string, signal: AbortSignal) => Promise<Value> {
  const known = new Map<string, Found<Value>>();
  return async (key, signal) => {
    const before = known.get(key);
    // Whoever asked first may have given up, which is nobody else's reason to.
    if (before !== undefined && before.untilMs > clock.monotonicMs()) return before.answer.catch(() => find(key, signal));
    const found = { answer: find(key, signal), untilMs: clock.monotonicMs() + ms };
    known.set(key, found);
    const forget = (): void => void (known.get(key) === found && known.delete(key));
    try {
      const value = await found.answer;
      if (!kept(value)) forget();
      return value;
    } catch (error) {
      forget();
      throw error;
    }
  };
}
