import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cover, fewestFor } from "./cover.ts";

const amounts = fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 10 }).map((each) => each.sort((a, b) => a - b));
const sumOf = (all: readonly number[], indexes: readonly number[]) => indexes.reduce((sum, index) => sum + (all[index] as number), 0);

/** The least cost of any subset of at most so many members that covers the excess, by trying all. */
function best(all: readonly number[], excess: number, fixed: number, most = Number.POSITIVE_INFINITY): number {
  let least = Number.POSITIVE_INFINITY;
  for (let bits = 1; bits < 2 ** all.length; bits += 1) {
    const chosen = all.flatMap((_, index) => ((bits >> index) & 1 ? [index] : []));
    const sum = sumOf(all, chosen);
    if (sum >= excess && chosen.length <= most) least = Math.min(least, sum + fixed * chosen.length);
  }
  return least;
}

describe("choosing what leaves", () => {
  it.each<readonly [what: string, all: readonly number[], excess: number, fixed: number, chosen: readonly number[]]>([
    ["one that is exactly enough", [1, 5, 9], 5, 2, [5]],
    ["the smallest that suffices rather than two", [3, 4, 7, 20], 6, 2, [7]],
    ["a pair where one alone is much too large", [3, 4, 50], 6, 2, [4, 3]],
    ["few large ones when each costs much", [1, 1, 1, 1, 4], 3, 5, [4]],
    ["many small ones when each costs nothing", [1, 1, 1, 9], 3, 0, [1, 1, 1]],
    ["the largest first, then what fills the rest", [2, 10, 10, 10], 22, 1, [10, 10, 2]],
    ["all when all do not suffice", [1, 2], 9, 1, [2, 1]],
    ["nothing of nothing", [], 9, 1, []],
  ])("takes %s", (...[, all, excess, fixed, chosen]) => {
    expect(cover(all, excess, { fixedCost: fixed }).map((index) => all[index])).toEqual(chosen);
  });

  it("covers the excess whenever that is possible, with no member twice and none that is not needed", () => {
    fc.assert(
      fc.property(amounts, fc.integer({ min: 1, max: 200 }), fc.nat({ max: 30 }), (all, excess, fixed) => {
        const chosen = cover(all, excess, { fixedCost: fixed });
        expect(new Set(chosen).size).toBe(chosen.length);
        if (all.reduce((a, b) => a + b, 0) < excess) return void expect(chosen.length).toBe(all.length);
        expect(sumOf(all, chosen)).toBeGreaterThanOrEqual(excess);
        const last = chosen.at(-1) as number;
        expect(sumOf(all, chosen) - (all[last] as number)).toBeLessThan(excess);
      }),
    );
  });

  it("costs at most one and a half times as much as the best subset, and on average a few per cent more", () => {
    const ratios: number[] = [];
    fc.assert(
      fc.property(amounts, fc.integer({ min: 1, max: 200 }), fc.nat({ max: 30 }), (all, excess, fixed) => {
        const least = best(all, excess, fixed);
        if (least === Number.POSITIVE_INFINITY) return;
        const chosen = cover(all, excess, { fixedCost: fixed });
        const ratio = (sumOf(all, chosen) + fixed * chosen.length) / least;
        ratios.push(ratio);
        expect(ratio).toBeLessThanOrEqual(1.5);
      }),
      { seed: 7, numRuns: 300 },
    );
    expect(ratios.reduce((a, b) => a + b, 0) / ratios.length).toBeLessThan(1.03);
  });

  it.each<readonly [what: string, all: readonly number[], excess: number, most: number, chosen: readonly number[]]>([
    ["the smallest that is enough alone, of one", [1, 1, 1, 9, 12], 3, 1, [9]],
    ["the cheapest pair, of two", [2, 2, 2, 3, 9], 6, 2, [9]],
    ["what is cheapest, when that is not more", [2, 2, 2, 9], 6, 3, [2, 2, 2]],
    ["the largest, and last the smallest that is enough with them, where two are the fewest", [1, 4, 5, 6], 9, 2, [5, 4]],
    ["the fewest, where no step of the search ends with so many", [3, 8, 8, 8], 24, 3, [8, 8, 8]],
  ])("takes %s", (...[, all, excess, most, chosen]) => {
    expect(cover(all, excess, { fixedCost: 0, most }).map((index) => all[index])).toEqual(chosen);
  });

  it("takes no more than it may, covers all the same, and costs at most twice as much as the best such subset", () => {
    fc.assert(
      fc.property(amounts, fc.integer({ min: 1, max: 200 }), fc.nat({ max: 30 }), fc.nat({ max: 2 }), (all, excess, fixed, spare) => {
        const most = fewestFor(all, excess) + spare;
        const chosen = cover(all, excess, { fixedCost: fixed, most });
        expect(chosen.length).toBeLessThanOrEqual(most);
        const least = best(all, excess, fixed, most);
        if (least === Number.POSITIVE_INFINITY) return void expect(chosen.length).toBe(all.length);
        expect(sumOf(all, chosen)).toBeGreaterThanOrEqual(excess);
        expect(sumOf(all, chosen) + fixed * chosen.length).toBeLessThanOrEqual(2 * least);
      }),
    );
  });

  it.each<readonly [all: readonly number[], excess: number, fewest: number]>([
    [[], 5, 0],
    [[1, 2, 5], 5, 1],
    [[1, 2, 5], 6, 2],
    [[1, 2, 5], 8, 3],
    [[1, 2, 5], 9, 3],
    [[1, 2, 5], 0, 0],
  ])("of %j an excess of %i takes at least %i", (all, excess, fewest) => {
    expect(fewestFor(all, excess)).toBe(fewest);
  });
});
