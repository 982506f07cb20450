import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { blocksOf, median, noiseOf, percentile } from "./statistics.ts";

const samples = fc.array(fc.double({ min: 0.001, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 50 });

describe("a percentile", () => {
  it.each([
    [0.5, 3],
    [0.99, 5],
    [0, 1],
    [1, 5],
    [0.2, 1],
    [0.21, 2],
  ])("of the share %d is the sample %d", (share, expected) => {
    expect(percentile([5, 3, 1, 4, 2], share)).toBe(expected);
  });

  it("is one of the samples, with at least that share at or below it", () => {
    fc.assert(
      fc.property(samples, fc.double({ min: 0, max: 1, noNaN: true }), (values, share) => {
        const found = percentile(values, share);
        expect(values).toContain(found);
        expect(values.filter((value) => value <= found).length).toBeGreaterThanOrEqual(share * values.length - 1e-9);
      }),
    );
  });

  it("of no samples is NaN", () => {
    expect([percentile([], 0.5), median([])]).toEqual([Number.NaN, Number.NaN]);
  });
});

describe("a median", () => {
  it("lies in the middle, between the two middle ones of an even number", () => {
    expect([median([9, 1, 5]), median([4, 1, 9, 2]), median([7])]).toEqual([5, 3, 7]);
  });
});

describe("noise", () => {
  it("is zero for repeats that agree, and for a single one", () => {
    expect([noiseOf([2, 2, 2]), noiseOf([5]), noiseOf([])]).toEqual([0, 0, 0]);
  });

  it("grows with the spread and not with the unit", () => {
    expect(noiseOf([90, 100, 110])).toBeLessThan(noiseOf([80, 100, 120]));
    expect(noiseOf([9, 10, 11])).toBeCloseTo(noiseOf([900, 1000, 1100]));
  });

  it("is not moved by one disturbed repeat", () => {
    expect(noiseOf([98, 99, 100, 101, 5_000])).toBeLessThan(0.02);
  });

  it("of five repeats ten percent apart is about seven percent", () => {
    expect(noiseOf([80, 90, 100, 110, 120])).toBeCloseTo((1.2533 * 1.4826 * 10) / Math.sqrt(5) / 100);
  });
});

describe("blocks", () => {
  it("hold every sample once, in order, in groups whose sizes differ by at most one", () => {
    fc.assert(
      fc.property(samples, fc.integer({ min: 1, max: 10 }), (values, count) => {
        const blocks = blocksOf(values, count);
        expect(blocks.flat()).toEqual(values);
        expect(Math.max(...blocks.map(({ length }) => length)) - Math.min(...blocks.map(({ length }) => length))).toBeLessThanOrEqual(1);
        expect(blocks.length).toBe(Math.min(count, values.length));
      }),
    );
  });
});
