import { DefectError } from "../domain/errors.ts";
import { createFifo, type Fifo } from "./fifo.ts";

export interface Batcher<In, Out> {
  /**
   * Resolves with this input's own result of the flush it went into; rejects with that flush's error, or with the signal's
   * reason when that aborts (an input that is not under way yet is then left out).
   */
  add(input: In, signal: AbortSignal): Promise<Out>;
}

export interface BatcherOptions<In, Out> {
  readonly maxSize: number;
  /** Handles a batch as a whole and returns a result for each input in the same order. */
  readonly flush: (batch: readonly In[], signal: AbortSignal) => Promise<readonly Out[]>;
  /** Two inputs of the same key never share a batch: the later one waits for a later batch, in the order they were added. */
  readonly key?: (input: In) => string;
}

interface Waiting<In, Out> {
  readonly input: In;
  readonly key: string | undefined;
  isWanted: boolean;
  resolve(result: Out): void;
  reject(reason: unknown): void;
}

/**
 * Creates a batcher: what is added in one turn of the event loop is flushed at once, and while a flush runs the next batch
 * gathers. So a single input never waits for company, and the batches grow with the load by themselves. The flush's signal
 * aborts when nobody wants any of its results any more.
 */
export function createBatcher<In, Out>({ maxSize, flush, key }: BatcherOptions<In, Out>): Batcher<In, Out> {
  /** What may go into the next batch: of each key the first only. */
  const next = createFifo<Waiting<In, Out>>();
  /** Of each key that is in `next` or in a flush: what came later. */
  const behind = new Map<string, Fifo<Waiting<In, Out>>>();
  let underWay: { readonly batch: readonly Waiting<In, Out>[]; readonly abort: AbortController } | undefined;
  let isAwake = false;

  const wake = (): void => {
    if (isAwake) return;
    isAwake = true;
    // Not in this very call: whoever adds a hundred inputs in a loop means one batch.
    queueMicrotask(() => void flushAll());
  };

  const flushAll = async (): Promise<void> => {
    for (let batch = take(); batch.length > 0; batch = take()) {
      underWay = { batch, abort: new AbortController() };
      await settleBatch(batch, flush, underWay.abort.signal);
      underWay = undefined;
      for (const done of batch) release(done);
    }
    isAwake = false;
  };

  const take = (): Waiting<In, Out>[] => {
    const batch: Waiting<In, Out>[] = [];
    while (batch.length < maxSize) {
      const waiting = next.shift();
      if (waiting === undefined) break;
      if (waiting.isWanted) batch.push(waiting);
      else release(waiting);
    }
    return batch;
  };

  /** Lets the next input of the same key move up. */
  const release = ({ key: of }: Waiting<In, Out>): void => {
    if (of === undefined) return;
    const following = behind.get(of)?.shift();
    if (following === undefined) behind.delete(of);
    else next.push(following);
  };

  const enqueue = (waiting: Waiting<In, Out>): void => {
    const line = waiting.key === undefined ? undefined : behind.get(waiting.key);
    if (line !== undefined) return line.push(waiting);
    if (waiting.key !== undefined) behind.set(waiting.key, createFifo());
    next.push(waiting);
    wake();
  };

  return {
    add(input, signal) {
      return new Promise<Out>((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        const onAbort = (): void => {
          waiting.isWanted = false;
          reject(signal.reason);
          if (underWay?.batch.every((other) => !other.isWanted)) underWay.abort.abort(signal.reason);
        };
        const finish =
          <T>(settle: (value: T) => void) =>
          (value: T): void => {
            signal.removeEventListener("abort", onAbort);
            settle(value);
          };
        const waiting: Waiting<In, Out> = { input, key: key?.(input), isWanted: true, resolve: finish(resolve), reject: finish(reject) };
        signal.addEventListener("abort", onAbort, { once: true });
        enqueue(waiting);
      });
    },
  };
}

async function settleBatch<In, Out>(
  batch: readonly Waiting<In, Out>[],
  flush: BatcherOptions<In, Out>["flush"],
  signal: AbortSignal,
): Promise<void> {
  try {
    const results = await flush(
      batch.map((waiting) => waiting.input),
      signal,
    );
    if (results.length !== batch.length) {
      throw new DefectError("matching results with the inputs of a batch", {
        code: "batcher.length",
        context: { inputs: batch.length, results: results.length },
      });
    }
    for (const [index, waiting] of batch.entries()) waiting.resolve(results[index] as Out);
  } catch (error) {
    for (const waiting of batch) waiting.reject(error);
  }
}
