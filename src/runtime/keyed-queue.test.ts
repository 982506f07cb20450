import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DefectError, GoneError, InputError, RefusedError, StaleError, UnavailableError } from "../domain/errors.ts";
import { silentLog } from "../telemetry/log.ts";
import { noMetrics } from "../telemetry/metrics.ts";
import { createPromMetrics } from "../telemetry/prom-metrics.ts";
import { createGatheringQueue, createKeyedQueue, type KeyedQueue, type KeyedQueueOptions, type WorkResult } from "./keyed-queue.ts";
import { createSeededRng } from "./rng.ts";
import { createVirtualClock, settle, type VirtualClock } from "./testing/virtual-clock.ts";

interface Bench {
  readonly clock: VirtualClock;
  readonly queue: KeyedQueue;
  /** Keys in the order their runs began, with the time. */
  readonly runs: { readonly key: string; readonly at: number }[];
  /** Ends the oldest run under way of a key. */
  end(key: string, how?: WorkResult | Error): Promise<void>;
  readonly active: Map<string, ((how?: WorkResult | Error) => void)[]>;
}

/** A queue whose runs last until the test ends them. */
function aQueue(options: Partial<KeyedQueueOptions> = {}): Bench {
  const clock = createVirtualClock();
  const runs: Bench["runs"] = [];
  const active: Bench["active"] = new Map();
  const queue = createKeyedQueue({
    name: "test",
    concurrency: 1,
    clock,
    rng: createSeededRng(1),
    log: silentLog,
    metrics: noMetrics,
    backoff: { minMs: 1000, maxMs: 8000 },
    work: (key) => {
      runs.push({ key, at: clock.monotonicMs() });
      return new Promise((resolve, reject) => {
        const finish = (how?: WorkResult | Error): void => (how instanceof Error ? reject(how) : resolve(how));
        active.set(key, [...(active.get(key) ?? []), finish]);
      });
    },
    ...options,
  });
  return {
    clock,
    queue,
    runs,
    active,
    async end(key, how) {
      const [finish, ...others] = active.get(key) ?? [];
      active.set(key, others);
      finish?.(how);
      await settle();
    },
  };
}

const keysOf = (bench: Bench): string[] => bench.runs.map((run) => run.key);
const unavailable = (retryAfterMs?: number): UnavailableError => new UnavailableError("asking", { code: "test", retryAfterMs });

describe("keyed queue", () => {
  it("gathers keys until it is started", async () => {
    const bench = aQueue();
    bench.queue.add("a");
    await settle();
    expect(bench.runs).toEqual([]);
    bench.queue.start();
    await settle();
    expect(keysOf(bench)).toEqual(["a"]);
  });

  it("gathers keys for work that is made after the queue, of what adds to it", async () => {
    const { clock } = aQueue();
    const log = silentLog;
    const queue = createGatheringQueue({ name: "test", concurrency: 1, clock, rng: createSeededRng(1), log, metrics: noMetrics });
    queue.add("a");
    const worked: string[] = [];
    queue.start(async (key) => {
      worked.push(key);
      if (key === "a") queue.add("b");
    });
    await queue.idle();
    expect(worked).toEqual(["a", "b"]);
    await queue.stop();
  });

  it("runs thousands at once where it may", async () => {
    const clock = createVirtualClock();
    let running = 0;
    const gate = Promise.withResolvers<void>();
    const queue = createKeyedQueue({
      ...{ name: "test", concurrency: 10_000, clock, rng: createSeededRng(1), log: silentLog, metrics: noMetrics },
      async work() {
        running += 1;
        await gate.promise;
      },
    });
    for (let index = 0; index < 20_000; index += 1) queue.add(`key ${index}`);
    queue.start();
    await settle();
    expect(running).toBe(10_000);
    gate.resolve();
    await queue.idle();
    expect(running).toBe(20_000);
    await queue.stop();
  });

  it("does not add a waiting key twice", async () => {
    const bench = aQueue();
    for (const key of ["a", "b", "a", "b"]) bench.queue.add(key);
    expect(bench.queue.depth()).toBe(2);
    bench.queue.start();
    await bench.end("a");
    await bench.end("b");
    await bench.queue.idle();
    expect(keysOf(bench)).toEqual(["a", "b"]);
  });

  it("runs a key once more when it was added while it ran", async () => {
    const bench = aQueue();
    bench.queue.start();
    bench.queue.add("a");
    await settle();
    bench.queue.add("a");
    bench.queue.add("a");
    await bench.end("a");
    await bench.end("a");
    await bench.queue.idle();
    expect(keysOf(bench)).toEqual(["a", "a"]);
  });

  it("lets groups take turns (P8)", async () => {
    const bench = aQueue();
    for (const key of ["n1", "n2", "n3"]) bench.queue.add(key, { group: "noisy" });
    for (const key of ["q1", "q2"]) bench.queue.add(key, { group: "quiet" });
    bench.queue.start();
    for (const key of ["n1", "q1", "n2", "q2", "n3"]) {
      await settle();
      await bench.end(key);
    }
    expect(keysOf(bench)).toEqual(["n1", "q1", "n2", "q2", "n3"]);
  });

  it("lets all background keys take turns like one group, whatever their groups (P8)", async () => {
    const bench = aQueue();
    for (const key of ["w", "x", "y", "z"]) bench.queue.add(key, { group: `of ${key}`, isBackground: true });
    for (const [key, group] of Object.entries({ a: "1", b: "1", c: "2" })) bench.queue.add(key, { group });
    bench.queue.start();
    await settle();
    for (const key of ["w", "a", "c", "x", "b", "y", "z"]) await bench.end(key);
    expect(keysOf(bench)).toEqual(["w", "a", "c", "x", "b", "y", "z"]);
  });

  it("brings a background key forward that is added otherwise, runs it once, and never puts a key back", async () => {
    const bench = aQueue();
    for (const key of ["w", "x", "y", "z"]) bench.queue.add(key, { isBackground: true });
    bench.queue.add("z", { group: "1" });
    bench.queue.add("z", { isBackground: true });
    expect(bench.queue.depth()).toBe(4);
    bench.queue.start();
    await settle();
    for (const key of ["w", "z", "x", "y"]) await bench.end(key);
    expect(keysOf(bench)).toEqual(["w", "z", "x", "y"]);
    expect(bench.queue.depth()).toBe(0);
  });

  it("takes slots back from a group while another one is served", async () => {
    const bench = aQueue({ concurrency: 3, besideOthers: 1 });
    for (const key of ["n1", "n2", "n3", "n4", "n5"]) bench.queue.add(key, { group: "noisy" });
    bench.queue.start();
    await settle();
    expect(keysOf(bench)).toEqual(["n1", "n2", "n3"]);
    bench.queue.add("q1", { group: "quiet" });
    for (const key of ["n1", "n2"]) await bench.end(key);
    expect(keysOf(bench)).toEqual(["n1", "n2", "n3", "n4", "q1"]);
    for (const key of ["n3", "q1"]) await bench.end(key);
    expect(keysOf(bench)).toEqual(["n1", "n2", "n3", "n4", "q1"]);
    await bench.end("n4");
    expect(keysOf(bench)).toEqual(["n1", "n2", "n3", "n4", "q1", "n5"]);
    await bench.end("n5");
    await bench.queue.idle();
  });

  it("keeps slots free of a group that has used up its share, and gives it a turn as soon as one of its runs ends", async () => {
    const bench = aQueue({ concurrency: 3, atOncePerGroup: 2 });
    for (const key of ["n1", "n2", "n3", "n4"]) bench.queue.add(key, { group: "noisy" });
    bench.queue.start();
    await settle();
    expect(keysOf(bench)).toEqual(["n1", "n2"]);
    bench.queue.add("q1", { group: "quiet" });
    await settle();
    expect(keysOf(bench)).toEqual(["n1", "n2", "q1"]);
    bench.queue.add("n1", { group: "moved" });
    await bench.end("n1");
    expect(keysOf(bench)).toEqual(["n1", "n2", "q1", "n3"]);
    await bench.end("q1");
    expect(keysOf(bench)).toEqual(["n1", "n2", "q1", "n3", "n1"]);
    for (const key of ["n2", "n3", "n1"]) await bench.end(key);
    expect(keysOf(bench)).toEqual(["n1", "n2", "q1", "n3", "n1", "n4"]);
    await bench.end("n4");
    await bench.queue.idle();
    expect(bench.queue.depth()).toBe(0);
  });

  it("takes the earliest of several delays, and none when a key is added without", async () => {
    const bench = aQueue();
    bench.queue.start();
    bench.queue.add("a", { afterMs: 5000 });
    bench.queue.add("a", { afterMs: 3000 });
    bench.queue.add("a", { afterMs: 4000 });
    bench.queue.add("b", { afterMs: 5000 });
    bench.queue.add("b");
    await bench.end("b");
    await bench.clock.advance(2999);
    expect(keysOf(bench)).toEqual(["b"]);
    await bench.clock.advance(1);
    expect(keysOf(bench)).toEqual(["b", "a"]);
    await bench.end("a");
    await bench.clock.advance(10_000);
    expect(keysOf(bench)).toEqual(["b", "a"]);
  });

  it("runs a key again after the time its work asked for", async () => {
    const bench = aQueue();
    bench.queue.start();
    bench.queue.add("a");
    await settle();
    await bench.end("a", { requeueAfterMs: 700 });
    await bench.clock.advance(699);
    expect(bench.runs).toHaveLength(1);
    await bench.clock.advance(1);
    expect(bench.runs).toHaveLength(2);
  });

  it.each([
    [{ requeueAfterMs: 700 }, 300],
    [{ requeueAfterMs: 300 }, 700],
  ])("takes the earlier of what its work asked for (%j) and what was added meanwhile (%d ms)", async (result, afterMs) => {
    const bench = aQueue();
    bench.queue.start();
    bench.queue.add("a");
    await settle();
    bench.queue.add("a", { afterMs });
    await bench.end("a", result);
    await bench.clock.advance(299);
    expect(bench.runs).toHaveLength(1);
    await bench.clock.advance(1);
    expect(bench.runs).toHaveLength(2);
    await bench.end("a");
    await bench.clock.advance(10_000);
    expect(bench.runs).toHaveLength(2);
  });

  it("backs off twice as long with every failure in a row, up to the maximum, and starts over after a success", async () => {
    const bench = aQueue();
    bench.queue.start();
    bench.queue.add("a");
    await settle();
    const waits: number[] = [];
    for (let failure = 1; failure <= 5; failure += 1) {
      const before = bench.clock.monotonicMs();
      await bench.end("a", unavailable());
      while (bench.runs.length === failure) await bench.clock.advance(10);
      waits.push(bench.clock.monotonicMs() - before);
    }
    for (const [index, full] of [1000, 2000, 4000, 8000, 8000].entries()) {
      expect(waits[index]).toBeGreaterThanOrEqual(full / 2);
      expect(waits[index]).toBeLessThanOrEqual(full + 10);
    }
    await bench.end("a", { requeueAfterMs: 0 });
    await bench.end("a", unavailable());
    await bench.clock.advance(1000);
    expect(bench.runs).toHaveLength(8);
  });

  it("waits at least as long as the other side asked for", async () => {
    const bench = aQueue();
    bench.queue.start();
    bench.queue.add("a");
    await settle();
    await bench.end("a", unavailable(30_000));
    await bench.clock.advance(29_999);
    expect(bench.runs).toHaveLength(1);
    await bench.clock.advance(6_001);
    expect(bench.runs).toHaveLength(2);
  });

  it("runs a key at once that is added during its back-off, and remembers the failures", async () => {
    const bench = aQueue();
    bench.queue.start();
    bench.queue.add("a");
    await settle();
    await bench.end("a", unavailable());
    bench.queue.add("a");
    await settle();
    expect(bench.runs).toHaveLength(2);
    await bench.end("a", unavailable());
    await bench.clock.advance(999);
    expect(bench.runs).toHaveLength(2);
    await bench.clock.advance(1001);
    expect(bench.runs).toHaveLength(3);
  });

  it("reads again at once after a stale read, but not for ever", async () => {
    const bench = aQueue();
    bench.queue.start();
    bench.queue.add("a");
    await settle();
    for (let time = 0; time < 20; time += 1) await bench.end("a", new StaleError("writing", { code: "test" }));
    expect(bench.runs).toHaveLength(6);
    await bench.clock.advance(8000);
    expect(bench.runs).toHaveLength(7);
  });

  it.each([
    ["refused", new RefusedError("writing", { code: "test" })],
    ["wrong input", new InputError("reading", { code: "test", path: "spec", remedy: "change it" })],
    ["gone", new GoneError("reading", { code: "test" })],
  ])("leaves a key that is %s alone until it is added again, which runs it at once", async (_name, error) => {
    const bench = aQueue();
    bench.queue.start();
    bench.queue.add("a");
    await settle();
    await bench.end("a", error);
    await bench.clock.advance(3_600_000);
    expect(bench.runs).toHaveLength(1);
    bench.queue.add("a");
    await settle();
    expect(bench.runs).toHaveLength(2);
  });

  it.each([new DefectError("thinking", { code: "test" }), new TypeError("undefined is not a function")])(
    "logs a defect as an error and backs off: %s",
    async (error) => {
      const logged: unknown[] = [];
      const bench = aQueue({ log: { ...silentLog, error: (fields) => logged.push(fields["err"]) } });
      bench.queue.start();
      bench.queue.add("a");
      await settle();
      await bench.end("a", error);
      expect(logged).toEqual([error]);
      await bench.clock.advance(1000);
      expect(bench.runs).toHaveLength(2);
    },
  );

  it("survives work that throws before its first await", async () => {
    const bench = aQueue({
      work: () => {
        throw unavailable();
      },
    });
    bench.queue.start();
    bench.queue.add("a");
    await bench.queue.idle();
    expect(bench.queue.depth()).toBe(0);
  });

  it("tells how many wait and how long the first of them has", async () => {
    const bench = aQueue();
    bench.queue.start();
    expect(bench.queue.oldestAgeMs()).toBe(0);
    bench.queue.add("a");
    await settle();
    bench.queue.add("b", { group: "one" });
    await bench.clock.advance(40);
    bench.queue.add("c", { group: "other" });
    bench.queue.add("d", { afterMs: 1_000_000 });
    await bench.clock.advance(2);
    expect(bench.queue.depth()).toBe(2);
    expect(bench.queue.oldestAgeMs()).toBe(42);
  });

  it("exports depth, age, duration and failures under its name", async () => {
    const metrics = createPromMetrics({ process: false });
    const bench = aQueue({ metrics });
    bench.queue.start();
    for (const key of ["a", "b"]) bench.queue.add(key);
    await bench.clock.advance(3000);
    await bench.end("a", unavailable());
    bench.queue.add("c");
    await bench.clock.advance(500);
    const text = await metrics.text();
    expect(text).toContain('argosy_queue_depth{queue="test"} 1');
    expect(text).toContain('argosy_queue_oldest_seconds{queue="test"} 0.5');
    expect(text).toContain('argosy_queue_work_seconds_sum{queue="test"} 3');
    expect(text).toContain('argosy_queue_failures_total{queue="test",class="unavailable"} 1');
  });

  it("lets runs under way end before it has stopped, and starts no other", async () => {
    const bench = aQueue();
    bench.queue.start();
    bench.queue.add("a");
    bench.queue.add("b");
    await settle();
    let isStopped = false;
    const stopped = bench.queue.stop().then(() => (isStopped = true));
    bench.queue.add("c");
    await settle();
    expect(isStopped).toBe(false);
    await bench.end("a", unavailable());
    await stopped;
    await bench.clock.advance(100_000);
    expect(keysOf(bench)).toEqual(["a"]);
  });

  it("aborts runs that do not end within the grace time, and does not call that a failure", async () => {
    const logged: string[] = [];
    const note = (_fields: unknown, message: string): void => void logged.push(message);
    const bench = aQueue({
      graceMs: 500,
      log: { ...silentLog, warn: note, error: note },
      work: (_key, signal) => new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    });
    bench.queue.start();
    bench.queue.add("a");
    await settle();
    const stopped = bench.queue.stop();
    await bench.clock.advance(500);
    await stopped;
    expect(logged).toEqual([]);
  });

  it("stops though keys wait and it was never started", async () => {
    const bench = aQueue();
    bench.queue.add("a");
    const idle = bench.queue.idle();
    await bench.queue.stop();
    await idle;
    bench.queue.start();
    await bench.queue.idle();
    expect(bench.runs).toEqual([]);
  });

  it("leaves no timer behind when it has stopped", async () => {
    const bench = aQueue();
    bench.queue.start();
    bench.queue.add("a", { afterMs: 60_000 });
    await bench.queue.stop();
    expect(bench.clock.nextAt()).toBeUndefined();
  });

  it("holds a hundred thousand keys", async () => {
    const seen = new Set<string>();
    const bench = aQueue({ concurrency: 8, work: async (key) => void seen.add(key) });
    for (let index = 0; index < 100_000; index += 1)
      bench.queue.add(`key ${index}`, { group: `group ${index % 1000}`, afterMs: index % 3 === 0 ? index % 997 : 0 });
    bench.queue.start();
    await bench.clock.advance(1000);
    await bench.queue.idle();
    expect(seen.size).toBe(100_000);
  });
});

describe("keyed queue, whatever happens", () => {
  type Step =
    | { readonly kind: "add"; readonly key: number; readonly afterMs: number; readonly isBackground: boolean }
    | { readonly kind: "end"; readonly how: number }
    | { readonly kind: "pass"; readonly ms: number };
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({
      kind: fc.constant("add" as const),
      key: fc.nat(5),
      afterMs: fc.constantFrom(0, 0, 50, 1500),
      isBackground: fc.boolean(),
    }),
    fc.record({ kind: fc.constant("end" as const), how: fc.nat(6) }),
    fc.record({ kind: fc.constant("pass" as const), ms: fc.constantFrom(1, 60, 2000) }),
  );
  const outcomes: readonly (WorkResult | Error | undefined)[] = [
    undefined,
    undefined,
    { requeueAfterMs: 100 },
    unavailable(),
    new StaleError("writing", { code: "test" }),
    new RefusedError("writing", { code: "test" }),
    new GoneError("reading", { code: "test" }),
  ];

  it("never runs a key twice at once, never more keys than allowed, and loses nothing", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 3 }), async (steps, concurrency) => {
        const bench = aQueue({ concurrency });
        const owed = new Map<string, number>();
        const busy = (): string[] => [...bench.active].filter(([, open]) => open.length > 0).map(([key]) => key);
        const check = (): void => {
          for (const [key, open] of bench.active) expect(open.length, `runs of ${key}`).toBeLessThanOrEqual(1);
          expect(busy().length).toBeLessThanOrEqual(concurrency);
        };
        bench.queue.start();
        for (const now of steps) {
          if (now.kind === "add") {
            const key = `k${now.key}`;
            owed.set(key, bench.runs.length);
            bench.queue.add(key, { group: `g${now.key % 2}`, afterMs: now.afterMs, isBackground: now.isBackground });
          } else if (now.kind === "end") {
            const key = busy()[0];
            if (key !== undefined) await bench.end(key, outcomes[now.how]);
          } else await bench.clock.advance(now.ms);
          await settle();
          check();
        }
        // Every add must be followed by a run that began after it.
        for (let round = 0; round < 400; round += 1) {
          for (const key of busy()) await bench.end(key);
          await bench.clock.advance(100);
          check();
        }
        for (const [key, since] of owed) expect(keysOf(bench).slice(since), `a run of ${key} after it was added`).toContain(key);
        expect(bench.queue.depth()).toBe(0);
      }),
      { numRuns: 100 },
    );
  });

  it("lets a key wait for at most as many runs as its place in its group times the number of groups (P8)", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(4), fc.nat(1000)), { minLength: 1, maxLength: 80 }), async (adds) => {
        const order: string[] = [];
        const bench = aQueue({ work: async (key) => void order.push(key) });
        const places = new Map<string, number>();
        const sizes = new Map<number, number>();
        for (const [group, id] of adds) {
          const key = `${group}/${id}`;
          if (places.has(key)) continue;
          sizes.set(group, (sizes.get(group) ?? 0) + 1);
          places.set(key, sizes.get(group) ?? 0);
          bench.queue.add(key, { group: String(group) });
        }
        bench.queue.start();
        await bench.queue.idle();
        expect(order).toHaveLength(places.size);
        for (const [key, place] of places) expect(order.indexOf(key)).toBeLessThan(place * sizes.size);
      }),
    );
  });
});
