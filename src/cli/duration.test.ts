import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { durationText, secondsOf } from "./duration.ts";

describe("lengths of time on the command line", () => {
  it.each([
    ["90m", 5400],
    ["4h", 14_400],
    ["62h", 223_200],
    ["7d", 604_800],
    ["1d12h", 129_600],
  ])("%s are %i seconds", (text, seconds) => expect(secondsOf(text, "--for")).toBe(seconds));

  it.each(["", "4", "h", "-4h", "4 h", "0h", "4w", "4h!", "1e3s", "9999999h"])("refuse %j", (text) =>
    expect(() => secondsOf(text, "--for")).toThrow("no length of time"),
  );

  it("are read as they are written", () => {
    fc.assert(fc.property(fc.integer({ min: 1, max: 1e7 }), (seconds) => secondsOf(durationText(seconds), "") === seconds));
    expect(durationText(0)).toBe("0s");
  });
});
