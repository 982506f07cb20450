import { describe, expect, it } from "vitest";
import { LOAD_DIMENSIONS, loadVector, ZERO_LOAD } from "../domain/load.ts";
import { DEFAULT_POLICY } from "./policy.ts";
import { boundAt, boundsOf, ceilingOf, dominantShare, meanShare, shareOf } from "./utilisation.ts";

describe("how full something is", () => {
  it.each([
    [0, 10, 0],
    [0, 0, 0],
    [-5, 10, 0],
    [-5, 0, 0],
    [5, 10, 500_000],
    [1, 3, 333_334],
    [20, 10, 2_000_000],
    [1, 0, Number.MAX_SAFE_INTEGER],
    [1, -1, Number.MAX_SAFE_INTEGER],
  ])("with %i of %i is %i millionths, rounded up", (load, capacity, share) => {
    expect(shareOf(load, capacity)).toBe(share);
  });

  it.each(LOAD_DIMENSIONS)("is decided by the fullest dimension, %s too", (dimension) => {
    const load = { ...loadVector(() => 1), [dimension]: 7 };
    const capacity = loadVector(() => 10);
    expect(dominantShare(load, capacity)).toBe(700_000);
    expect(meanShare([load, load, ZERO_LOAD], [capacity, loadVector(() => 18)])).toBe(500_000);
  });

  it("is zero without load, and beyond every bound with load on no capacity", () => {
    expect([meanShare([], []), dominantShare(ZERO_LOAD, ZERO_LOAD)]).toEqual([0, 0]);
    expect(meanShare([{ ...ZERO_LOAD, milliCpu: 1 }], [])).toBe(Number.MAX_SAFE_INTEGER);
  });
});

describe("the bounds of placement", () => {
  it("are whole numbers, and zero of an impossible capacity", () => {
    expect(ceilingOf({ ...loadVector(() => 15), milliCpu: -3 }, 900_000)).toEqual({ ...loadVector(() => 13), milliCpu: 0 });
  });

  it.each([
    [0, [600_000, 900_000]],
    [560_000, [600_000, 616_000, 900_000]],
    [700_001, [735_001, 770_001, 900_000]],
    [850_000, [892_500, 900_000]],
    [2_000_000, [900_000]],
  ])("with a mean of %i are %j: each once, none below 60 % or above 90 %", (mean, bounds) => {
    expect(boundsOf(mean, DEFAULT_POLICY)).toEqual(bounds);
  });

  it("never exceed the hard limit, although the activity threshold does", () => {
    expect(boundAt(0, 1_000_000, { ...DEFAULT_POLICY, activity: 950_000 })).toBe(900_000);
  });
});
