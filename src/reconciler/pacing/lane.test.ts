import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createLane, type Lane, PATIENCE_MS } from "./lane.ts";

const SHARE = 3;

/** Wishes `w0`, `w1` … for Applications `a0`, `a1` …; returns those that were admitted at once. */
function ask(lane: Lane, from: number, to: number, nowMs = 0): readonly number[] {
  const numbers = Array.from({ length: to - from }, (_, index) => from + index);
  return numbers.filter((number) => lane.admits(`w${number}`, `a${number}`, nowMs));
}

describe("a unit's line before its instance", () => {
  test("lets through what the instance may have work with at once, and the others as it is done with some", () => {
    const lane = createLane(SHARE);
    expect(ask(lane, 0, 6)).toEqual([0, 1, 2]);
    expect(lane.size()).toEqual({ working: 3, held: 3 });
    expect(lane.next(1)).toEqual([]);
    lane.end("a1");
    expect(lane.next(1)).toEqual(["w3"]);
    lane.end("a0");
    lane.end("a2");
    expect(lane.next(2)).toEqual(["w4", "w5"]);
    expect(lane.dueMs()).toBeUndefined();
  });

  test("is for late ones too, when others wait in it", () => {
    const lane = createLane(1);
    expect(ask(lane, 0, 2)).toEqual([0]);
    lane.end("a0");
    expect(ask(lane, 2, 3)).toEqual([]);
    expect(lane.next(0)).toEqual(["w1"]);
  });

  test("counts what others gave the instance to do", () => {
    const lane = createLane(1);
    lane.begin("by-hand", 0);
    expect(ask(lane, 0, 1)).toEqual([]);
    lane.end("by-hand");
    expect(lane.next(0)).toEqual(["w0"]);
  });

  test("is not for what the instance has work with anyhow", () => {
    const lane = createLane(1);
    expect(ask(lane, 0, 2)).toEqual([0]);
    expect(lane.admits("another wish", "a0", 0)).toBe(true);
    lane.begin("a1", 0);
    expect(lane.next(0)).toEqual(["w1"]);
  });

  test("keeps the place of who asks again, and not that of who has left", () => {
    const lane = createLane(1);
    ask(lane, 0, 4);
    expect(ask(lane, 1, 2)).toEqual([]);
    lane.leave("w2");
    lane.end("a0");
    expect(lane.next(0)).toEqual(["w1"]);
    lane.end("a1");
    expect(lane.next(0)).toEqual(["w3"]);
  });

  test("moves on without those that do not end, and does not count them anew when they are heard of", () => {
    const lane = createLane(SHARE);
    ask(lane, 0, 7);
    expect(lane.dueMs()).toBe(PATIENCE_MS);
    expect(lane.next(PATIENCE_MS - 1)).toEqual([]);
    expect(lane.next(PATIENCE_MS)).toEqual(["w3", "w4", "w5"]);
    for (const stuck of ["a0", "a1", "a2"]) lane.begin(stuck, PATIENCE_MS);
    lane.end("a3");
    expect(lane.next(PATIENCE_MS)).toEqual(["w6"]);
    expect(lane.size()).toEqual({ working: 6, held: 0 });
  });
});

type Step = { readonly kind: "ask" | "leave" | "begin" | "end"; readonly which: number } | { readonly kind: "pass"; readonly ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constantFrom("ask" as const, "ask" as const, "ask" as const, "leave", "begin", "end", "end"), which: fc.nat(15) }),
  fc.record({ kind: fc.constant("pass" as const), ms: fc.constantFrom(1, PATIENCE_MS / 3, PATIENCE_MS) }),
);

describe("whatever happens to a line", () => {
  test("it names nobody twice, nobody who has not asked, in the order of asking, and never more than there is room for", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4 }), fc.boolean(), fc.array(step, { maxLength: 120 }), (share, isAlone, all) => {
        // What others give the instance to do is nothing the line can keep within bounds.
        const steps = all.filter(({ kind }) => !isAlone || kind !== "begin");
        const lane = createLane(share);
        /** The line as it should be, and since when each Application has been given to the instance by the lane's own word. */
        let line: string[] = [];
        const given = new Map<string, number>();
        let nowMs = 0;
        for (const now of steps) {
          if (now.kind === "pass") nowMs += now.ms;
          else if (now.kind === "leave") {
            lane.leave(`w${now.which}`);
            line = line.filter((wish) => wish !== `w${now.which}`);
          } else if (now.kind === "end") {
            lane.end(`a${now.which}`);
            given.delete(`a${now.which}`);
          } else if (now.kind === "begin") lane.begin(`a${now.which}`, nowMs);
          else if (lane.admits(`w${now.which}`, `a${now.which}`, nowMs)) {
            line = line.filter((wish) => wish !== `w${now.which}`);
            given.set(`a${now.which}`, given.get(`a${now.which}`) ?? nowMs);
          } else if (!line.includes(`w${now.which}`)) line.push(`w${now.which}`);
          const named = lane.next(nowMs);
          expect(named).toEqual(line.slice(0, named.length));
          line = line.slice(named.length);
          for (const wish of named) given.set(wish.replace("w", "a"), given.get(wish.replace("w", "a")) ?? nowMs);
          expect(lane.size().held).toBe(line.length);
          const fresh = [...given.values()].filter((sinceMs) => nowMs - sinceMs < PATIENCE_MS);
          if (isAlone) expect(fresh.length).toBeLessThanOrEqual(share);
        }
      }),
    );
  });

  test("everybody in it has a turn by patience alone, though the instance never answers", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 0, max: 60 }), (share, count) => {
        const lane = createLane(share);
        let named = ask(lane, 0, count).length;
        let nowMs = 0;
        for (let due = lane.dueMs(); due !== undefined; due = lane.dueMs()) {
          expect(due).toBeGreaterThan(nowMs);
          nowMs = due;
          named += lane.next(nowMs).length;
        }
        expect(named).toBe(count);
        expect(nowMs).toBe(PATIENCE_MS * Math.max(0, Math.ceil(count / share) - 1));
      }),
    );
  });
});
