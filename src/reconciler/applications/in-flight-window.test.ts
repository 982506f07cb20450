import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { InstanceId, UnitId } from "../../domain/ids.ts";
import {
  createInFlightWindow,
  FIRST_SIZE,
  IN_FLIGHT_TIMEOUT_MS,
  type InFlightWindow,
  nextSize,
  samplesOf,
  type WindowSize,
  windowOf,
  windowsOf,
} from "./in-flight-window.ts";

const SHARE = 2;

/** Work `w0`, `w1` … for Applications `a0`, `a1` …; returns those that were admitted at once. */
function ask(window: InFlightWindow, from: number, to: number, nowMs = 0): readonly number[] {
  const numbers = Array.from({ length: to - from }, (_, index) => from + index);
  return numbers.filter((number) => window.admits(`w${number}`, `a${number}`, nowMs));
}

/** Whom a window names at the moment when it is due by itself. */
function namedWhenDue(beganMs: number): readonly string[] {
  const window = createInFlightWindow(1);
  ask(window, 0, 2, beganMs);
  return window.next(window.dueMs() ?? 0);
}

describe("a unit's line before its instance", () => {
  test("lets through what the instance may have work with at once, and the others as it is done with some", () => {
    const window = createInFlightWindow(SHARE);
    expect(ask(window, 0, 5)).toEqual([0, 1]);
    expect(window.size()).toEqual({ working: 2, held: 3 });
    expect(window.next(1)).toEqual([]);
    window.end("a1", 1);
    expect(window.next(1)).toEqual(["w2"]);
    window.end("a0", 2);
    window.end("a2", 2);
    expect(window.next(2)).toEqual(["w3", "w4"]);
    expect(window.dueMs()).toBeUndefined();
  });

  test("is for late ones too, when others wait in it", () => {
    const window = createInFlightWindow(1);
    expect(ask(window, 0, 2)).toEqual([0]);
    window.end("a0", 0);
    expect(ask(window, 2, 3)).toEqual([]);
    expect(window.next(0)).toEqual(["w1"]);
  });

  test("counts what others gave the instance to do", () => {
    const window = createInFlightWindow(1);
    window.begin("by-hand", 0);
    expect(ask(window, 0, 1)).toEqual([]);
    window.end("by-hand", 0);
    expect(window.next(0)).toEqual(["w0"]);
  });

  test("is not for what the instance has work with anyhow", () => {
    const window = createInFlightWindow(1);
    expect(ask(window, 0, 2)).toEqual([0]);
    expect(window.admits("another request", "a0", 0)).toBe(true);
    window.begin("a1", 0);
    expect(window.next(0)).toEqual(["w1"]);
  });

  test("keeps the place of who asks again, and not that of who has left", () => {
    const window = createInFlightWindow(1);
    ask(window, 0, 4);
    expect(ask(window, 1, 2)).toEqual([]);
    window.leave("w2");
    window.end("a0", 0);
    expect(window.next(0)).toEqual(["w1"]);
    window.end("a1", 0);
    expect(window.next(0)).toEqual(["w3"]);
  });

  test("is never due again at the moment it was due, whatever fraction of a millisecond it began at", () => {
    fc.assert(fc.property(fc.double({ min: 0, max: 1e7, noNaN: true }), (beganMs) => namedWhenDue(beganMs).length === 1));
    // A sum and a difference of these round apart.
    for (const beganMs of [9450.860927237856, 6733.761380368644, 5902.441943855384]) expect(namedWhenDue(beganMs)).toEqual(["w1"]);
  });

  test("moves on without those that do not end, and does not count them anew when they are heard of", () => {
    const window = createInFlightWindow(SHARE);
    ask(window, 0, 7);
    expect(window.dueMs()).toBe(IN_FLIGHT_TIMEOUT_MS);
    expect(window.next(IN_FLIGHT_TIMEOUT_MS - 1)).toEqual([]);
    expect(window.next(IN_FLIGHT_TIMEOUT_MS)).toEqual(["w2", "w3"]);
    for (const stuck of ["a0", "a1"]) window.begin(stuck, IN_FLIGHT_TIMEOUT_MS);
    window.end("a2", IN_FLIGHT_TIMEOUT_MS);
    expect(window.next(IN_FLIGHT_TIMEOUT_MS)).toEqual(["w4"]);
    expect(window.size()).toEqual({ working: 4, held: 2 });
  });
});

describe("how many at once", () => {
  /** So many in front of an instance that works on one after the other; returns how many it had each time one was done. */
  function workOff(eachMs: number, count: number, most: number): readonly number[] {
    const window = createInFlightWindow(most);
    const queue = ask(window, 0, count).map((number) => `a${number}`);
    const sizes: number[] = [];
    for (let nowMs = eachMs; queue.length > 0; nowMs += eachMs) {
      sizes.push(queue.length);
      window.end(queue.shift() ?? "", nowMs);
      queue.push(...window.next(nowMs).map((request) => request.replace("w", "a")));
    }
    return sizes;
  }

  test("is few where the instance is busy with few, and many where it is done at once", () => {
    for (const eachMs of [300, 700, 2_000]) expect(Math.max(...workOff(eachMs, 300, 16))).toBeLessThanOrEqual(8);
    expect(Math.min(...workOff(20, 300, 16).slice(50, 280))).toBe(16);
  });

  test("is not learnt from what others began, and not from what never came", () => {
    const window = createInFlightWindow(32);
    ask(window, 0, 9);
    for (const number of [0, 1]) window.drop(`a${number}`);
    expect(window.next(9)).toEqual(["w2", "w3"]);
    for (const number of [0, 1, 2, 3, 4]) {
      window.begin(`by-hand-${number}`, 9);
      window.end(`by-hand-${number}`, 10);
    }
    expect(window.next(10)).toEqual([]);
    expect(window.size()).toEqual({ working: 2, held: 5 });
  });
});

type Step = { readonly kind: "ask" | "leave" | "begin" | "end"; readonly which: number } | { readonly kind: "pass"; readonly ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constantFrom("ask" as const, "ask" as const, "ask" as const, "leave", "begin", "end", "end"), which: fc.nat(15) }),
  fc.record({ kind: fc.constant("pass" as const), ms: fc.constantFrom(1, IN_FLIGHT_TIMEOUT_MS / 3, IN_FLIGHT_TIMEOUT_MS) }),
);

describe("whatever happens to a line", () => {
  test("it names nobody twice, nobody who has not asked, in the order of asking, and never more than there is room for", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4 }), fc.boolean(), fc.array(step, { maxLength: 120 }), (share, isAlone, all) => {
        // What others give the instance to do is nothing the line can keep within bounds.
        const steps = all.filter(({ kind }) => !isAlone || kind !== "begin");
        const window = createInFlightWindow(share);
        /** The line as it should be, and since when each Application has been given to the instance by the window's own word. */
        let line: string[] = [];
        const given = new Map<string, number>();
        let nowMs = 0;
        for (const now of steps) {
          if (now.kind === "pass") nowMs += now.ms;
          else if (now.kind === "leave") {
            window.leave(`w${now.which}`);
            line = line.filter((request) => request !== `w${now.which}`);
          } else if (now.kind === "end") {
            window.end(`a${now.which}`, nowMs);
            given.delete(`a${now.which}`);
          } else if (now.kind === "begin") window.begin(`a${now.which}`, nowMs);
          else if (window.admits(`w${now.which}`, `a${now.which}`, nowMs)) {
            line = line.filter((request) => request !== `w${now.which}`);
            given.set(`a${now.which}`, given.get(`a${now.which}`) ?? nowMs);
          } else if (!line.includes(`w${now.which}`)) line.push(`w${now.which}`);
          const named = window.next(nowMs);
          expect(named).toEqual(line.slice(0, named.length));
          line = line.slice(named.length);
          for (const request of named) given.set(request.replace("w", "a"), given.get(request.replace("w", "a")) ?? nowMs);
          expect(window.size().held).toBe(line.length);
          const fresh = [...given.values()].filter((sinceMs) => nowMs - sinceMs < IN_FLIGHT_TIMEOUT_MS);
          if (isAlone) expect(fresh.length).toBeLessThanOrEqual(share);
        }
      }),
    );
  });

  test("everybody in it has a turn by timeouts alone, though the instance never answers", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 0, max: 60 }), (share, count) => {
        const window = createInFlightWindow(share);
        let named = ask(window, 0, count).length;
        let nowMs = 0;
        for (let due = window.dueMs(); due !== undefined; due = window.dueMs()) {
          expect(due).toBeGreaterThan(nowMs);
          nowMs = due;
          named += window.next(nowMs).length;
        }
        expect(named).toBe(count);
        expect(nowMs).toBeLessThanOrEqual(IN_FLIGHT_TIMEOUT_MS * Math.ceil(count / Math.min(2, share)));
      }),
    );
  });
});

const MOST = 16;

/** A window after so many, each of which took what an instance takes that does `rate` a second and no single one faster than `aloneMs`. */
function afterMany(instance: { readonly rate: number; readonly aloneMs: number }, count = 400, from: WindowSize = FIRST_SIZE): WindowSize {
  let window = from;
  for (let done = 0; done < count; done += 1)
    window = nextSize(window, Math.max(instance.aloneMs, (1000 * window.size) / instance.rate), MOST);
  return window;
}
/** Times what one takes alone that the unit's own work keeps a neighbour waiting. */
const inFront = ({ size }: WindowSize, { rate, aloneMs }: { readonly rate: number; readonly aloneMs: number }) =>
  (1000 * (size + 1)) / rate / aloneMs;

describe("how much an instance is given at once", () => {
  test.each([
    { rate: 1.5, aloneMs: 900 },
    { rate: 2, aloneMs: 1_500 },
    { rate: 1, aloneMs: 3_000 },
    { rate: 3, aloneMs: 2_000 },
  ])("keeps it busy and little in front of others, at $rate a second and $aloneMs ms alone", (instance) => {
    const window = afterMany(instance);
    expect(inFront(window, instance)).toBeLessThanOrEqual(5);
    expect((1000 * window.size) / instance.rate).toBeGreaterThanOrEqual(instance.aloneMs);
  });

  test("is all that may be where nothing takes a second, and where more at once do not take longer", () => {
    expect(afterMany({ rate: 100, aloneMs: 100 }).size).toBe(MOST);
    expect(afterMany({ rate: 1_000, aloneMs: 20_000 }).size).toBe(MOST);
  });

  test("is less once the instance becomes slow, and learns what is slow by nature", () => {
    const fast = afterMany({ rate: 100, aloneMs: 200 });
    const slow = afterMany({ rate: 1, aloneMs: 1_000 }, 200, fast);
    expect(slow.size).toBeLessThan(8);
    expect(afterMany({ rate: 100, aloneMs: 10_000 }, 400, slow).size).toBe(MOST);
  });

  test("changes once a round, within its bounds, whatever things take", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.array(fc.nat(120_000)), (most, times) => {
        let window: WindowSize = { ...FIRST_SIZE, size: Math.min(FIRST_SIZE.size, most) };
        let unchanged = 0;
        for (const tookMs of times) {
          const next = nextSize(window, tookMs, most);
          expect(next.size).toBeGreaterThanOrEqual(Math.min(FIRST_SIZE.size, most));
          expect(next.size).toBeLessThanOrEqual(Math.min(most, 2 * window.size));
          unchanged += 1;
          if (next.size !== window.size) {
            expect(unchanged).toBeGreaterThanOrEqual(window.size);
            unchanged = 0;
          }
          window = next;
        }
      }),
    );
  });
});

const id = (text: string) => text as InstanceId;
const labels = (instance: string, unit: string): { readonly labels: Readonly<Record<string, string>> } => ({
  labels: { "argosy.dev/instance": instance, "argosy.dev/unit": unit },
});

describe("in-flight windows", () => {
  test("are those of a unit on an instance, before a change and after it", () => {
    expect([...windowsOf({ now: labels("i", "u") })]).toEqual([windowOf(id("i"), "u" as UnitId)]);
    expect([...windowsOf({ before: labels("i", "u"), now: labels("j", "u") })]).toEqual(["j|u", "i|u"]);
    expect([...windowsOf({ before: labels("i", "u"), now: { labels: {} } })]).toEqual(["i|u"]);
  });

  test("are reported by instance, of those that are ours", () => {
    const windows = new Map(
      [windowOf(id("i"), "u" as UnitId), windowOf(id("i"), "v" as UnitId), windowOf(id("j"), "u" as UnitId)].map((key) => [
        key,
        createInFlightWindow(1),
      ]),
    );
    for (const window of windows.values()) for (const at of ["a", "b", "c"]) window.admits(`work on ${at}`, at, 0);
    expect(
      samplesOf(
        windows,
        new Map([
          [id("i"), "standard-1"],
          [id("k"), "standard-2"],
        ]),
      ),
    ).toEqual([
      { labels: { instance: "standard-1", state: "working" }, value: 2 },
      { labels: { instance: "standard-1", state: "held" }, value: 4 },
      { labels: { instance: "standard-2", state: "working" }, value: 0 },
      { labels: { instance: "standard-2", state: "held" }, value: 0 },
    ]);
  });
});
