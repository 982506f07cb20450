import { describe, expect, it } from "vitest";
import { exponentOf } from "./growth.ts";

const at = (...pairs: readonly (readonly [number, number])[]) => pairs.map(([applications, value]) => ({ applications, value }));

describe("how a figure grows", () => {
  it("is the exponent of the number of applications", () => {
    expect(exponentOf(at([1_000, 3], [5_000, 15], [25_000, 75]))).toBeCloseTo(1);
    expect(exponentOf(at([1_000, 7], [25_000, 7]))).toBeCloseTo(0);
    expect(exponentOf(at([10, 2], [100, 200]))).toBeCloseTo(2);
    // Half of the way at each size: two sizes at twice the cost are a root.
    expect(exponentOf(at([100, 10], [400, 20]))).toBeCloseTo(0.5);
  });

  it("is not known from one size, nor where nothing was measured", () => {
    expect(exponentOf([])).toBeUndefined();
    expect(exponentOf(at([1_000, 3], [1_000, 4]))).toBeUndefined();
    expect(exponentOf(at([1_000, 0], [2_000, 4]))).toBeUndefined();
  });
});
