import { describe, expect, it } from "vitest";
import type { Millis } from "./clock.ts";
import type { MovePhase } from "./move.ts";
import { beganAt, gapMs, tookMs } from "./move-times.ts";

const NOW = 1000 as Millis;
const aMove = (endedAt: number | undefined, ...marks: readonly (readonly [MovePhase, number])[]) => ({
  marks: marks.map(([phase, at]) => ({ phase, at: at as Millis })),
  endedAt: endedAt as Millis | undefined,
});

describe("the times of a move", () => {
  it("go by the last time a phase began", () => {
    expect(beganAt(aMove(undefined, ["FENCE", 1], ["FENCE", 3]), "FENCE")).toBe(3);
    expect(beganAt(aMove(undefined), "FENCE")).toBe(undefined);
  });

  it("have a gap from REVOKE until an owner is there again, or until now", () => {
    expect(gapMs(aMove(undefined, ["PREPARE", 1]), NOW)).toBe(undefined);
    expect(gapMs(aMove(undefined, ["REVOKE", 100]), NOW)).toBe(900);
    expect(gapMs(aMove(undefined, ["REVOKE", 100], ["VERIFY", 400]), NOW)).toBe(300);
    expect(gapMs(aMove(undefined, ["REVOKE", 100], ["ABORT", 200]), NOW)).toBe(100);
    expect(gapMs(aMove(150, ["REVOKE", 100]), NOW)).toBe(50);
  });

  it("have a length from its turn to its end, or to now", () => {
    expect(tookMs(aMove(undefined), NOW)).toBe(undefined);
    expect(tookMs(aMove(undefined, ["PREPARE", 10]), NOW)).toBe(990);
    expect(tookMs(aMove(500, ["PREPARE", 10]), NOW)).toBe(490);
  });
});
