import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createLane, type Lane, PATIENCE_MS } from "./lane.ts";

const SHARE = 2;

/** Wishes `w0`, `w1` … for Applications `a0`, `a1` …; returns those that were admitted at once. */
function ask(lane: Lane, from: number, to: number, nowMs = 0): readonly number[] {
  const numbers = Array.from({ length: to - from }, (_, index) => from + index);
  return numbers.filter((number) => lane.admits(`w${number}`, `a${number}`, nowMs));
}

/** Whom a lane names at the moment when it is due by itself. */
function namedWhenDue(beganMs: number): readonly string[] {
  const lane = createLane(1);
  ask(lane, 0, 2, beganMs);
  return lane.next(lane.dueMs() ?? 0);
}

describe("a unit's line before its instance", () => {
  test("lets through what the instance may have work with at once, and the others as it is done with some", () => {
    const lane = createLane(SHARE);
    expect(ask(lane, 0, 5)).toEqual([0, 1]);
    expect(lane.size()).toEqual({ working: 2, held: 3 });
    expect(lane.next(1)).toEqual([]);
    lane.end("a1", 1);
    expect(lane.next(1)).toEqual(["w2"]);
    lane.end("a0", 2);
    lane.end("a2", 2);
    expect(lane.next(2)).toEqual(["w3", "w4"]);
    expect(lane.dueMs()).toBeUndefined();
  });

  test("is for late ones too, when others wait in it", () => {
    const lane = createLane(1);
    expect(ask(lane, 0, 2)).toEqual([0]);
    lane.end("a0", 0);
    expect(ask(lane, 2, 3)).toEqual([]);
    expect(lane.next(0)).toEqual(["w1"]);
  });

  test("counts what others gave the instance to do", () => {
    const lane = createLane(1);
    lane.begin("by-hand", 0);
    expect(ask(lane, 0, 1)).toEqual([]);
    lane.end("by-hand", 0);
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
    lane.end("a0", 0);
    expect(lane.next(0)).toEqual(["w1"]);
    lane.end("a1", 0);
    expect(lane.next(0)).toEqual(["w3"]);
  });

  test("is never due again at the moment it was due, whatever fraction of a millisecond it began at", () => {
    fc.assert(fc.property(fc.double({ min: 0, max: 1e7, noNaN: true }), (beganMs) => namedWhenDue(beganMs).length === 1));
    // A sum and a difference of these round apart.
    for (const beganMs of [9450.860927237856, 6733.761380368644, 5902.441943855384]) expect(namedWhenDue(beganMs)).toEqual(["w1"]);
  });

  test("moves on without those that do not end, and does not count them anew when they are heard of", () => {
    const lane = createLane(SHARE);
    ask(lane, 0, 7);
    expect(lane.dueMs()).toBe(PATIENCE_MS);
    expect(lane.next(PATIENCE_MS - 1)).toEqual([]);
    expect(lane.next(PATIENCE_MS)).toEqual(["w2", "w3"]);
    for (const stuck of ["a0", "a1"]) lane.begin(stuck, PATIENCE_MS);
    lane.end("a2", PATIENCE_MS);
    expect(lane.next(PATIENCE_MS)).toEqual(["w4"]);
    expect(lane.size()).toEqual({ working: 4, held: 2 });
  });
});

describe("how many at once", () => {
  /** So many in front of an instance that works on one after the other; returns how many it had each time one was done. */
  function workOff(eachMs: number, count: number, most: number): readonly number[] {
    const lane = createLane(most);
    const queue = ask(lane, 0, count).map((number) => `a${number}`);
    const sizes: number[] = [];
    for (let nowMs = eachMs; queue.length > 0; nowMs += eachMs) {
      sizes.push(queue.length);
      lane.end(queue.shift() ?? "", nowMs);
      queue.push(...lane.next(nowMs).map((wish) => wish.replace("w", "a")));
    }
    return sizes;
  }

  test("is few where the instance is busy with few, and many where it is done at once", () => {
    for (const eachMs of [300, 700, 2_000]) expect(Math.max(...workOff(eachMs, 300, 16))).toBeLessThanOrEqual(8);
    expect(Math.min(...workOff(20, 300, 16).slice(50, 280))).toBe(16);
  });

  test("is not learnt from what others began, and not from what never came", () => {
    const lane = createLane(32);
    ask(lane, 0, 9);
    for (const number of [0, 1]) lane.drop(`a${number}`);
    expect(lane.next(9)).toEqual(["w2", "w3"]);
    for (const number of [0, 1, 2, 3, 4]) {
      lane.begin(`by-hand-${number}`, 9);
      lane.end(`by-hand-${number}`, 10);
    }
    expect(lane.next(10)).toEqual([]);
    expect(lane.size()).toEqual({ working: 2, held: 5 });
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
            lane.end(`a${now.which}`, nowMs);
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
        expect(nowMs).toBeLessThanOrEqual(PATIENCE_MS * Math.ceil(count / Math.min(2, share)));
      }),
    );
  });
});
