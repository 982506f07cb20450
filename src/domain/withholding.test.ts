import { describe, expect, it } from "vitest";
import { millis } from "./clock.ts";
import { isWithheld, isWithholdingOver, nextWithholding, type Withholding, weightInObjects, weightText } from "./withholding.ts";

const MINUTE = 60_000;
const weight = { objects: 31_000, apis: 420 };
const at = (now: number, before?: Withholding) => nextWithholding(before, { weight, budget: 20_000, now: millis(now) });

describe("an environment that takes more than it may", () => {
  it("is weighed by its objects and the APIs that are watched", () => {
    expect(weightInObjects(weight)).toBe(34_360);
    expect(weightText(at(0))).toContain(
      "31000 objects of 420 APIs of it in memory, which counts as 34360 objects, and one environment may take 20000",
    );
  });

  it("is tried again an hour later, or five minutes after it was withheld if its user changes something", () => {
    const withheld = at(0);
    const isOver = (minutes: number, isChanged: boolean) => isWithholdingOver(withheld, { now: millis(minutes * MINUTE), isChanged });
    expect([isOver(4, true), isOver(5, true), isOver(59, false), isOver(60, false)]).toEqual([false, true, false, true]);
  });

  it("is tried again at once when the administrator allows what was measured", () => {
    const isOver = (budget: number | undefined) => isWithholdingOver(at(0), { now: millis(1), isChanged: false, budget });
    expect([undefined, 20_000, 34_359, 34_360].map(isOver)).toEqual([false, false, false, true]);
  });

  it("waits twice as long each time in a row, and never longer than an account's token lasts", () => {
    let withheld = at(0);
    const waits = Array.from({ length: 7 }, () => {
      const { at: since, until, changeFrom, times } = withheld;
      withheld = at(until, { ...withheld, endedAt: until });
      return [times, (changeFrom - since) / MINUTE, (until - since) / MINUTE];
    });
    expect(waits).toEqual([
      [1, 5, 60],
      [2, 10, 120],
      [3, 20, 240],
      [4, 40, 240],
      [5, 60, 240],
      [6, 60, 240],
      [7, 60, 240],
    ]);
  });

  it("begins anew after a day within its budget", () => {
    const ended = { ...at(0), times: 5, endedAt: millis(0) };
    expect(at(24 * 60 * MINUTE - 1, ended).times).toBe(6);
    expect(at(24 * 60 * MINUTE, ended).times).toBe(1);
  });

  it("is withheld until somebody has ended that", () => {
    expect([isWithheld(undefined), isWithheld(at(0)), isWithheld({ ...at(0), endedAt: millis(1) })]).toEqual([false, true, false]);
  });
});
