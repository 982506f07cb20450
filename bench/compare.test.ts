import { describe, expect, it } from "vitest";
import { compareRuns, renderDifferences } from "./compare.ts";
import type { SizedFigure } from "./figures.ts";

const aFigure = (over: Partial<SizedFigure> = {}): SizedFigure => ({
  ...{ applications: 200, measure: "P1", what: "created → present", unit: "ms", better: "lower", value: 20, noise: 0 },
  ...over,
});
const bare = (value: number) => ({ what: "bare chain", value });
const regresses = (before: Partial<SizedFigure>, now: Partial<SizedFigure>): boolean | undefined =>
  compareRuns([aFigure(before)], [aFigure(now)])[0]?.isRegression;

describe("two runs", () => {
  it.each<[string, Partial<SizedFigure>, Partial<SizedFigure>, boolean]>([
    ["the same", {}, {}, false],
    ["a little worse than before", {}, { value: 22 }, false],
    ["much worse than before", {}, { value: 25 }, true],
    ["better than before", {}, { value: 5 }, false],
    ["less where more is better", { better: "higher" }, { better: "higher", value: 15 }, true],
    ["more where more is better", { better: "higher" }, { better: "higher", value: 30 }, false],
    ["worse within the noise of either", { noise: 0.2 }, { value: 25 }, false],
    ["slower by as much as the machine was", { limit: bare(10) }, { value: 40, limit: bare(20) }, false],
    ["as fast on a machine that was twice as fast", { limit: bare(10) }, { limit: bare(5) }, true],
  ])("%s", (_what, before, now, expected) => {
    expect(regresses(before, now)).toBe(expected);
  });

  it("are compared only where both have the figure at the same size", () => {
    const now = [aFigure({ applications: 1000, value: 99 }), aFigure({ what: "something new" }), aFigure({ measure: "P2" })];
    expect(compareRuns([aFigure()], now)).toEqual([]);
  });

  it("are not compared where only one has a limit, or a figure is no number", () => {
    expect(compareRuns([aFigure()], [aFigure({ limit: bare(1) })])).toEqual([]);
    expect(compareRuns([aFigure({ value: Number.NaN })], [aFigure()])).toEqual([]);
    expect(compareRuns([aFigure({ value: 0 })], [aFigure()])).toEqual([]);
  });

  it("are rendered as lines; those of regressions begin with a word", () => {
    const text = renderDifferences(
      compareRuns([aFigure(), aFigure({ what: "other" })], [aFigure({ value: 40 }), aFigure({ what: "other", value: 10 })]),
    );
    expect(text.split("\n")).toEqual([
      "WORSE P1 | created → present | 200: 20.0 → 40.0, 100 % worse (15.0 % are noise)",
      "      P1 | other | 200: 20.0 → 10.0, 50.0 % better (15.0 % are noise)",
    ]);
  });
});
