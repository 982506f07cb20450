import { describe, expect, it } from "vitest";
import { millis } from "./clock.ts";
import { fallsBackUntil, type MeasuredPromise, modeInForce } from "./rebalancing.ts";

const HOUR_MS = 3_600_000;
/** Newest first; k: kept, b: broken. An hour lies between two. */
const promises = (text: string): readonly MeasuredPromise[] =>
  [...text].map((each, index) => ({ at: millis((100 - index) * HOUR_MS), isKept: each === "k" }));

describe("a class whose plans do not do what they promise", () => {
  it.each([
    ["", undefined],
    ["b", undefined],
    ["bb", undefined],
    ["bbb", 124],
    ["bkbkb", 124],
    ["bkkbb", 124],
    ["bkkkbb", undefined],
    ["kbbbb", undefined],
    ["bkbbb", 124],
  ])("falls back for a day, where the last were %s", (text, hours) => {
    expect(fallsBackUntil(promises(text))).toBe(hours === undefined ? undefined : hours * HOUR_MS);
  });

  it("only proposes until then, whatever is declared but off", () => {
    const [before, after] = [millis(124 * HOUR_MS - 1), millis(124 * HOUR_MS)];
    expect(modeInForce({ mode: "auto" }, promises("bbb"), before)).toBe("propose");
    expect(modeInForce({ mode: "auto" }, promises("bbb"), after)).toBe("auto");
    expect(modeInForce({ mode: "off" }, promises("bbb"), before)).toBe("off");
    expect(modeInForce(undefined, [], before)).toBe("propose");
  });
});
