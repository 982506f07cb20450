import { describe, expect, it } from "vitest";
import { createVisitPace, nextVisitMs } from "./visit-pace.ts";

describe("a cluster that never does what it is visited for", () => {
  it.each([
    ["moving", [30_000, 60_000, 120_000, 240_000, 300_000, 300_000]],
    ["installing", [1_000, 2_000, 4_000, 8_000, 16_000, 32_000]],
    ["leaving", [2_000, 4_000, 8_000, 16_000, 32_000, 64_000]],
    ["ready", [300_000, 300_000, 300_000, 300_000, 300_000, 300_000]],
  ] as const)("is visited ever less often while it is %s", (awaited, delays) => {
    const pace = createVisitPace();
    expect(delays.map(() => pace.next("a", awaited))).toEqual(delays);
    expect(pace.next("b", awaited)).toBe(delays[0]);
  });

  it("is visited as often as another once it did, or was forgotten", () => {
    const pace = createVisitPace();
    for (const _ of [1, 2, 3]) pace.next("a", "moving");
    pace.next("a", "ready");
    expect(pace.next("a", "moving")).toBe(30_000);
    pace.next("a", "moving");
    pace.forget("a");
    expect(pace.next("a", "moving")).toBe(30_000);
  });

  it("is visited again however long it goes on", () => {
    expect(nextVisitMs("installing", 1e9)).toBe(300_000);
  });
});
