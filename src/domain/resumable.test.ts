import { describe, expect, it } from "vitest";
import { complete, filterInTurns, mapInTurns, type Resumable, visitInTurns } from "./resumable.ts";

const NUMBERS = Array.from({ length: 2_345 }, (_, index) => index);

/** The most items that were visited between two pauses, and the result. */
function longestStretch<Result>(of: (count: () => void) => Resumable<Result>) {
  let [visited, longest] = [0, 0];
  const work = of(() => {
    visited += 1;
    longest = Math.max(longest, visited);
  });
  for (;;) {
    const next = work.next();
    if (next.done === true) return { longest, result: next.value };
    visited = 0;
  }
}

describe("work with pauses", () => {
  it("comes to what it would come to without", () => {
    expect(complete(mapInTurns(NUMBERS, (each, index) => each * 2 + index))).toEqual(NUMBERS.map((each, index) => each * 2 + index));
    expect(complete(filterInTurns(NUMBERS, (each) => each % 3 === 0))).toEqual(NUMBERS.filter((each) => each % 3 === 0));
    expect(complete(mapInTurns([], String))).toEqual([]);
  });

  it.each([
    ["a visit", (count: () => void) => visitInTurns(NUMBERS, count)],
    ["a map", (count: () => void) => mapInTurns(NUMBERS, count)],
    ["a filter", (count: () => void) => filterInTurns(NUMBERS, () => count() === undefined)],
  ])("pauses after each few hundred items of %s", (_name, of) => {
    expect(longestStretch<unknown>(of).longest).toBeLessThanOrEqual(500);
  });
});
