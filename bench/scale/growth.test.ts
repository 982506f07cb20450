import { describe, expect, it } from "vitest";
import { isMet, type SizedFigure } from "../figures.ts";
import { exponentOf, holdFigures, renderGrowth, renderMissed } from "./growth.ts";

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

const aFigure = (measure: string, applications: number, value: number, over: Partial<SizedFigure> = {}): SizedFigure => ({
  ...{ measure, applications, value, what: "P1: created → Application present", unit: "ms", better: "lower", noise: 0 },
  ...over,
});

describe("figures of several sizes and numbers of processes", () => {
  it("are held against the smallest size with as many processes", () => {
    const held = holdFigures([
      aFigure("scale ×1", 100, 10),
      aFigure("scale ×1", 900, 15),
      aFigure("scale ×4", 100, 4),
      aFigure("scale ×4", 900, 7),
    ]);
    expect(held.map(({ limit }) => limit?.value)).toEqual([undefined, 10, undefined, 4]);
    expect(held.map(isMet)).toEqual([undefined, true, undefined, false]);
    expect(renderMissed(held)).toBe(
      "  OVER  scale ×4 at 900, P1: created → Application present: 7.00 ms, 1.75 times at 100; goal at most 1.50",
    );
  });

  it("may fall to two thirds where more is better", () => {
    const rate = { what: "filling: deployments created and reported", unit: "/s", better: "higher" } as const;
    const held = (value: number) => holdFigures([aFigure("scale ×1", 100, 30, rate), aFigure("scale ×1", 900, value, rate)]).map(isMet);
    expect([held(21), held(19)]).toEqual([
      [undefined, true],
      [undefined, false],
    ]);
  });

  it("are held against one process at the same size where several share the work", () => {
    const memory = { what: "idle: memory of the largest process", unit: "MiB" };
    const one = aFigure("scale ×1", 900, 300, { ...memory, goal: { of: "value", sense: "at most", bound: 1_024 } });
    const others = [aFigure("scale ×4", 900, 121, memory), aFigure("scale ×4", 100, 90, memory), aFigure("scale ×2", 900, 250, memory)];
    const held = holdFigures([one, ...others]);
    expect(held.map(({ limit }) => limit)).toEqual([undefined, { what: "one process", value: 300 }, undefined, undefined]);
    expect(held.map(isMet)).toEqual([true, false, undefined, undefined]);
  });

  it("say how they grow, and when that is more than linear", () => {
    const growing = [aFigure("scale ×1", 100, 1), aFigure("scale ×1", 1_000, 100)];
    const falling = growing.map((figure) => ({ ...figure, what: "rate", better: "higher" as const, value: 1 / figure.value }));
    const lines = renderGrowth([...growing, ...falling])
      .split("\n")
      .slice(1);
    expect(lines.map((line) => line.trim().split(/ {2,}/).slice(1))).toEqual([
      ["2.00", "OVER"],
      ["-2.00", "OVER"],
    ]);
  });
});
