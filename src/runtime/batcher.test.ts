import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DefectError } from "../domain/errors.ts";
import { createBatcher } from "./batcher.ts";
import { settle } from "./testing/virtual-clock.ts";

const never = new AbortController().signal;

/** A flush that lasts until the test ends it. */
function aFlush(): {
  readonly batches: (readonly string[])[];
  readonly signals: AbortSignal[];
  flush(batch: readonly string[], signal: AbortSignal): Promise<readonly string[]>;
  end(error?: Error): Promise<void>;
} {
  const batches: (readonly string[])[] = [];
  const signals: AbortSignal[] = [];
  let finish: ((error?: Error) => void) | undefined;
  return {
    batches,
    signals,
    flush(batch, signal) {
      batches.push(batch);
      signals.push(signal);
      return new Promise((resolve, reject) => {
        finish = (error) => (error === undefined ? resolve(batch.map((input) => input.toUpperCase())) : reject(error));
      });
    },
    async end(error) {
      finish?.(error);
      await settle();
    },
  };
}

describe("batcher", () => {
  it("flushes at once when nothing is under way, and what is added meanwhile together afterwards", async () => {
    const bench = aFlush();
    const batcher = createBatcher({ maxSize: 10, flush: bench.flush });
    const results = ["a", "b"].map((input) => batcher.add(input, never));
    await settle();
    results.push(...["c", "d", "e"].map((input) => batcher.add(input, never)));
    await settle();
    expect(bench.batches).toEqual([["a", "b"]]);
    await bench.end();
    expect(bench.batches).toEqual([
      ["a", "b"],
      ["c", "d", "e"],
    ]);
    await bench.end();
    expect(await Promise.all(results)).toEqual(["A", "B", "C", "D", "E"]);
  });

  it("makes no batch larger than allowed", async () => {
    const sizes: number[] = [];
    const batcher = createBatcher<number, number>({
      maxSize: 3,
      flush: async (batch) => {
        sizes.push(batch.length);
        return batch;
      },
    });
    await Promise.all(Array.from({ length: 8 }, (_, index) => batcher.add(index, never)));
    expect(sizes).toEqual([3, 3, 2]);
  });

  it("rejects every input of a batch that failed, and no other", async () => {
    const bench = aFlush();
    const batcher = createBatcher({ maxSize: 2, flush: bench.flush });
    const results = Promise.allSettled(["a", "b", "c"].map((input) => batcher.add(input, never)));
    await settle();
    await bench.end(new Error("no"));
    await bench.end();
    expect((await results).map((result) => result.status)).toEqual(["rejected", "rejected", "fulfilled"]);
  });

  it("calls a flush that returns too few results a defect", async () => {
    const batcher = createBatcher<string, string>({ maxSize: 2, flush: async () => [] });
    await expect(batcher.add("a", never)).rejects.toBeInstanceOf(DefectError);
  });

  it("survives a flush that throws before its first await", async () => {
    const batcher = createBatcher<string, string>({
      maxSize: 2,
      flush: () => {
        throw new Error("no");
      },
    });
    await expect(batcher.add("a", never)).rejects.toThrow("no");
    await expect(batcher.add("b", never)).rejects.toThrow("no");
  });

  it("leaves out an input whose caller gave up before its flush", async () => {
    const bench = aFlush();
    const batcher = createBatcher({ maxSize: 10, flush: bench.flush, key: (input) => input.slice(0, 1) });
    const abort = new AbortController();
    const first = batcher.add("a1", never);
    await settle();
    const given = batcher.add("b1", abort.signal);
    const later = batcher.add("b2", never);
    abort.abort(new Error("given up"));
    await expect(given).rejects.toThrow("given up");
    await bench.end();
    await bench.end();
    expect(await Promise.all([first, later])).toEqual(["A1", "B2"]);
    expect(bench.batches).toEqual([["a1"], ["b2"]]);
    await expect(batcher.add("c", abort.signal)).rejects.toThrow("given up");
  });

  it("aborts a flush when nobody wants its results any more, not before", async () => {
    const bench = aFlush();
    const batcher = createBatcher({ maxSize: 10, flush: bench.flush });
    const aborts = [new AbortController(), new AbortController()];
    const results = Promise.allSettled(aborts.map((abort) => batcher.add("a", abort.signal)));
    await settle();
    aborts[0]?.abort();
    expect(bench.signals[0]?.aborted).toBe(false);
    aborts[1]?.abort();
    expect(bench.signals[0]?.aborted).toBe(true);
    await bench.end();
    await results;
  });

  it("gives every input its own result, keeps inputs of a key apart and in order", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(3), fc.nat(4)), { maxLength: 60 }),
        fc.integer({ min: 1, max: 7 }),
        async (inputs, maxSize) => {
          const handled: number[] = [];
          const keyOf = (index: number): string => String(inputs[index]?.[0]);
          const batcher = createBatcher<number, string>({
            maxSize,
            key: keyOf,
            flush: async (batch) => {
              expect(new Set(batch.map(keyOf)).size).toBe(batch.length);
              expect(batch.length).toBeLessThanOrEqual(maxSize);
              handled.push(...batch);
              await settle();
              return batch.map((index) => `result ${index}`);
            },
          });
          const results: Promise<string>[] = [];
          for (const [index, [, pause]] of inputs.entries()) {
            results.push(batcher.add(index, never));
            if (pause === 0) await settle();
          }
          expect(await Promise.all(results)).toEqual(inputs.map((_, index) => `result ${index}`));
          for (const key of new Set(inputs.map((_, index) => keyOf(index)))) {
            const ofKey = handled.filter((index) => keyOf(index) === key);
            expect(ofKey).toEqual([...ofKey].sort((a, b) => a - b));
          }
        },
      ),
    );
  });
});
