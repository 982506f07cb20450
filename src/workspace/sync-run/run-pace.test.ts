import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRunPace, takeToken } from "./run-pace.ts";

describe("a workspace that asks for syncs without end", () => {
  it("begins a minute's worth at once and then one each time another is due, in the order it asked", () => {
    const pace = createRunPace();
    const delays = Array.from({ length: 7 }, (_, index) => pace.dueInMs({ uid: `r${index}`, workspace: "jane" }, 4, 1_000));
    expect(delays).toEqual([0, 0, 0, 0, 15_000, 30_000, 45_000]);
  });

  it("keeps a run's place however often it is reconciled, and loses none", () => {
    const pace = createRunPace();
    const ask = (uid: string, nowMs: number) => pace.dueInMs({ uid, workspace: "jane" }, 1, nowMs);
    expect([ask("a", 0), ask("b", 0), ask("c", 0)]).toEqual([0, 60_000, 120_000]);
    expect([ask("c", 30_000), ask("b", 30_000)]).toEqual([90_000, 30_000]);
    expect([ask("b", 60_000), ask("c", 60_000), ask("c", 130_000)]).toEqual([0, 60_000, 0]);
  });

  it("delays nobody else", () => {
    const pace = createRunPace();
    for (let run = 0; run < 1_000; run += 1) pace.dueInMs({ uid: `r${run}`, workspace: "jane" }, 20, 0);
    expect(pace.dueInMs({ uid: "other", workspace: "bob" }, 20, 0)).toBe(0);
  });

  it("begins anew with another quota", () => {
    const pace = createRunPace();
    for (const uid of ["a", "b"]) pace.dueInMs({ uid, workspace: "jane" }, 1, 0);
    expect(pace.dueInMs({ uid: "b", workspace: "jane" }, 100, 0)).toBe(0);
  });

  it("begins anew alone: a workspace with another quota, or one that gets another one, changes nobody's turn", () => {
    const pace = createRunPace();
    const ask = (uid: string, workspace: string, perMinute: number) => pace.dueInMs({ uid, workspace }, perMinute, 0);
    expect([ask("a", "jane", 1), ask("b", "jane", 1), ask("c", "jane", 1)]).toEqual([0, 60_000, 120_000]);
    expect([ask("d", "bob", 2), ask("e", "bob", 2), ask("f", "bob", 2)]).toEqual([0, 0, 30_000]);
    expect([ask("f", "bob", 4), ask("f", "bob", 4)]).toEqual([0, 0]);
    expect([ask("c", "jane", 1), ask("g", "jane", 1)]).toEqual([120_000, 180_000]);
  });

  it("begins no more than two minutes' worth in any minute, and never waits longer than its turn", () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 20_000 }), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), gaps, (perMinute, each) => {
        let [now, fullAtMs] = [0, 0];
        const begun = each.map((gap) => {
          now += gap;
          const taken = takeToken(fullAtMs, perMinute, now);
          fullAtMs = taken.fullAtMs;
          return taken.dueMs;
        });
        for (const [index, at] of begun.entries()) {
          expect(at).toBeGreaterThanOrEqual(begun[index - 1] ?? 0);
          expect(begun.filter((other) => other >= at && other < at + 60_000).length).toBeLessThanOrEqual(2 * perMinute);
        }
      }),
    );
  });
});
