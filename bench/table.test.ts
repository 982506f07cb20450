import { describe, expect, it } from "vitest";
import { isMet, type SizedFigure } from "./figures.ts";
import { renderTable, short } from "./table.ts";

const creation: SizedFigure = {
  ...{ applications: 200, measure: "P1", what: "created", unit: "ms", better: "lower", value: 20.04, p99: 44.7, noise: 0.031 },
  limit: { what: "bare chain", value: 10, p99: 17 },
  goal: { of: "ratio", sense: "at most", bound: 2.5 },
};
const idle: SizedFigure = {
  ...{ applications: 1000, measure: "P5", what: "idle", unit: "cores", better: "lower", value: 0.0312, noise: 0 },
  goal: { of: "value", sense: "at most", bound: 0.02 },
};
const rows: SizedFigure = { ...{ applications: 1000, measure: "P3", what: "rows", unit: "/s", better: "higher", value: 16_852, noise: 0 } };

describe("the table", () => {
  it("shows figures, limits, goals and whether they are met", () => {
    expect(renderTable([creation, idle, rows]).split("\n")).toEqual([
      "| apps |    | figure                      |        value |  p99 |       limit | ratio |  noise | goal           | met |",
      "| ---: | -- | --------------------------- | -----------: | ---: | ----------: | ----: | -----: | -------------- | --- |",
      "|  200 | P1 | created (limit: bare chain) |      20.0 ms | 44.7 | 10.0 (17.0) |  2.00 | 3.10 % | ≤ 2.50 ×       | yes |",
      "| 1000 | P5 | idle                        | 0.0312 cores |      |             |       |        | ≤ 0.0200 cores | NO  |",
      "| 1000 | P3 | rows                        |     16852 /s |      |             |       |        |                |     |",
    ]);
  });

  it.each([
    [0, "0"],
    [0.001234, "0.00123"],
    [0.0000001, "0.00000"],
    [1.234, "1.23"],
    [123.4, "123"],
    [99.96, "100.0"],
    [16_852.4, "16852"],
    [Number.NaN, "-"],
    [Number.POSITIVE_INFINITY, "-"],
  ])("shows %d as %s", (value, text) => {
    expect(short(value)).toBe(text);
  });
});

describe("a goal", () => {
  it("is met at its bound, on either side, of a value or of the ratio to the limit", () => {
    const of = (over: Partial<SizedFigure>): boolean | undefined => isMet({ ...creation, ...over });
    expect(of({ value: 25 })).toBe(true);
    expect(of({ value: 25.1 })).toBe(false);
    expect(of({ goal: { of: "ratio", sense: "at least", bound: 2 }, value: 20 })).toBe(true);
    expect(of({ goal: { of: "ratio", sense: "at least", bound: 2.1 }, value: 20 })).toBe(false);
    expect(of({ goal: { of: "value", sense: "at most", bound: 20 } })).toBe(false);
  });

  it("is undefined where there is none, or no limit to compare with", () => {
    const { limit: _limit, ...unlimited } = creation;
    expect([isMet(rows), isMet(unlimited)]).toEqual([undefined, undefined]);
  });
});
