import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { backoffMs } from "./backoff.ts";
import { createCountingIds, createUuidIds } from "./ids.ts";
import { createSeededRng, systemRng } from "./rng.ts";
import { createVirtualClock } from "./testing/virtual-clock.ts";

const draws = (rng: { next(): number }, count: number): number[] => Array.from({ length: count }, () => rng.next());

describe("seeded randomness", () => {
  it("is the same for the same seed and another for another", () => {
    expect(draws(createSeededRng("a"), 20)).toEqual(draws(createSeededRng("a"), 20));
    expect(draws(createSeededRng("a"), 20)).not.toEqual(draws(createSeededRng("b"), 20));
    expect(draws(createSeededRng(1), 3)).toEqual(draws(createSeededRng("1"), 3));
  });

  it("forks by name, however much was drawn before", () => {
    const [rng, drawn] = [createSeededRng(7), createSeededRng(7)];
    draws(drawn, 100);
    expect(draws(rng.fork("x").fork("y"), 5)).toEqual(draws(drawn.fork("x").fork("y"), 5));
    expect(draws(rng.fork("x"), 5)).not.toEqual(draws(rng.fork("y"), 5));
    expect(draws(rng.fork("x"), 5)).not.toEqual(draws(createSeededRng(7), 5));
    expect(draws(createSeededRng("a").fork("b/c"), 5)).not.toEqual(draws(createSeededRng("a/b").fork("c"), 5));
  });

  it("is spread evenly over [0, 1)", () => {
    for (const rng of [createSeededRng(1), createSeededRng(2).fork("x"), systemRng.fork("x")]) {
      const buckets = new Array<number>(10).fill(0);
      for (const draw of draws(rng, 20_000)) {
        expect(draw >= 0 && draw < 1).toBe(true);
        const bucket = Math.floor(draw * 10);
        buckets[bucket] = (buckets[bucket] ?? 0) + 1;
      }
      // 2000 expected in each, standard deviation 42: seven of them never happen by chance.
      for (const count of buckets) expect(Math.abs(count - 2000)).toBeLessThan(300);
    }
  });
});

describe("ids", () => {
  it("are UUIDs of version 7 that hold the time", () => {
    const clock = createVirtualClock(0x0123_4567_89ab);
    expect(createUuidIds(clock).next<string>()).toMatch(/^01234567-89ab-7000-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it("sort in the order they were made, even many in a millisecond and when the clock is set back", () => {
    let nowMs = 1_800_000_000_000;
    const ids = createUuidIds({ ...createVirtualClock(), now: () => nowMs as never });
    const made: string[] = [];
    for (let count = 0; count < 10_000; count += 1) made.push(ids.next());
    nowMs -= 5000;
    for (let count = 0; count < 10; count += 1) made.push(ids.next());
    expect([...made].sort()).toEqual(made);
    expect(new Set(made).size).toBe(made.length);
  });

  it("count up in the shape of a UUID where they must be the same in every run", () => {
    const ids = createCountingIds();
    const made: string[] = [ids.next(), ids.next()];
    expect(made).toEqual(["00000000-0000-7000-8000-000000000001", "00000000-0000-7000-8000-000000000002"]);
  });
});

describe("back-off", () => {
  it("doubles from the least to the most, of which up to half is chance", () => {
    const range = { minMs: 100, maxMs: 1000 };
    expect([1, 2, 3, 4, 5, 1_000_000].map((failures) => backoffMs(failures, range, 0))).toEqual([50, 100, 200, 400, 500, 500]);
    expect([1, 2, 3, 4, 5].map((failures) => backoffMs(failures, range, 0.999_999))).toEqual([100, 200, 400, 800, 1000]);
  });

  it("never waits longer than the most nor less than half the least", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -3, max: 10_000 }),
        fc.integer({ min: 2, max: 1000 }),
        fc.integer({ min: 1000, max: 100_000 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (failures, minMs, maxMs, draw) => {
          const waitMs = backoffMs(failures, { minMs, maxMs }, draw);
          expect(waitMs).toBeGreaterThanOrEqual(Math.floor(minMs / 2));
          expect(waitMs).toBeLessThanOrEqual(maxMs);
        },
      ),
    );
  });
});
