import { describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import type { InstanceId, PlanId, UnitId } from "../../domain/ids.ts";
import { type LoadVector, ZERO_LOAD } from "../../domain/load.ts";
import type { CarriedStep, MoveReason, StepOutcome } from "../../domain/plan.ts";
import type { MeanLoads } from "../../domain/rebalancing.ts";
import { nextMeanLoads } from "./mean-loads.ts";
import { type PromiseFacts, promisesOf } from "./relief-promise.ts";
import { settlePromises, withPromises } from "./settle-promises.ts";

const [A, B] = ["a", "b"] as unknown as [InstanceId, InstanceId];
const PLAN = { id: "plan" as PlanId, report: { dimension: "milliCpu" } };
const HOUR_MS = 3_600_000;
const MADE = millis(1_000 * HOUR_MS);
const hours = (count: number) => millis(MADE + count * HOUR_MS);
const cpu = (milliCpu: number): LoadVector => ({ ...ZERO_LOAD, milliCpu });
const means = (a: number, b: number, at = MADE): MeanLoads => ({ a: { load: cpu(a), at }, b: { load: cpu(b), at } });
const step = (unit: string, over: Partial<CarriedStep> = {}): CarriedStep => ({
  ...{ unit: unit as UnitId, name: unit, from: A, to: B, reason: "SHED" as MoveReason, outcome: "asked" as StepOutcome },
  ...{ why: "", move: undefined, ...over },
});
const unit = (id: string, milliCpu: number, movingTo?: InstanceId): PromiseFacts["units"][number] => ({
  unit: { id: id as UnitId, owner: A, load: cpu(milliCpu) },
  movingTo,
});
const moved = (id: string, at = MADE, from = A, to = B): PromiseFacts["moves"][number] => ({ unit: id as UnitId, from, to, at });
const FACTS = {
  class: "eu/shared/public",
  instances: [{ id: A }, { id: B }],
  units: [unit("u", 100), unit("v", 200), unit("w", 700)],
  moves: [],
};

describe("what steps promise", () => {
  const promised = (steps: readonly CarriedStep[], known = means(600, 200)) => promisesOf(PLAN, steps, FACTS, { means: known, at: MADE });

  it("is the part of the class's load that leaves an instance, against what that was measured to have", () => {
    expect(promised([step("u"), step("v")])).toEqual([
      {
        ...{ plan: "plan", instance: A, dimension: "milliCpu", since: MADE, at: MADE, before: 750_000 },
        units: [
          { unit: "u", share: 100_000 },
          { unit: "v", share: 200_000 },
        ],
      },
    ]);
  });

  it("counts what comes in exchange", () => {
    const [first, second] = promised([step("w"), step("v", { from: B, to: A })]);
    expect(first?.units).toEqual([
      { unit: "w", share: 700_000 },
      { unit: "v", share: -200_000 },
    ]);
    expect(second).toMatchObject({
      instance: B,
      units: [
        { unit: "v", share: 200_000 },
        { unit: "w", share: -700_000 },
      ],
    });
  });

  it("leaves out steps that were dropped, that had to be made, and instances that are not measured", () => {
    expect(promised([step("u", { outcome: "dropped" }), step("v", { reason: "FORCED" })])).toEqual([]);
    expect(promised([step("u")], { b: means(0, 200)["b"] as MeanLoads[string] })).toEqual([]);
    expect(promisesOf(PLAN, [step("u")], { ...FACTS, units: [] }, { means: means(1, 1), at: MADE })).toEqual([]);
  });
});

describe("a promise", () => {
  const [promise] = promisesOf(PLAN, [step("u"), step("v")], FACTS, { means: means(600, 200), at: MADE });
  const settled = (atHours: number, now: MeanLoads, over: Partial<PromiseFacts> = {}) =>
    settlePromises(
      { promises: promise === undefined ? [] : [promise], meanLoads: now },
      { ...FACTS, moves: [moved("u"), moved("v")], ...over },
      hours(atHours),
    );

  it("is kept where half of what was expected has come, whatever the whole class has meanwhile", () => {
    // 750,000 ppm before; 600,000 are half of the 300,000 that should have left.
    const { state, decisions } = settled(2, means(1_200, 800, hours(2)));
    expect(decisions).toMatchObject([
      {
        ...{ subject: "plan", verdict: "KEPT", rule: "PROMISE" },
        details: { from: A, before: 750_000, after: 600_000, expected: 300_000, real: 150_000, moves: 2 },
      },
    ]);
    expect(decisions[0]?.details.reason).toBe("30 % of the load of the class were to leave, 15 % did");
    expect(state).toMatchObject({ promises: [], measured: [{ isKept: true }] });
    expect(settled(2, means(1_202, 798, hours(2))).decisions).toMatchObject([{ verdict: "BROKEN" }]);
  });

  it("is not broken by what other moves bring, and not kept by what they take", () => {
    // Of the class 30 % left, and "w" with 70 % came.
    const came = [moved("u"), moved("v"), moved("w", hours(1), B, A)];
    const { decisions } = settled(3, means(1_150, -150, hours(3)), { moves: came });
    expect(decisions).toMatchObject([{ verdict: "KEPT", details: { expected: 300_000, real: 300_000, moves: 2 } }]);
    const went = [moved("u"), moved("v"), moved("w", hours(1))];
    expect(settled(3, means(50, 950, hours(3)), { moves: went }).decisions).toMatchObject([{ verdict: "BROKEN", details: { real: 0 } }]);
    // Half an hour before, most of it was in what was measured; five hours before, all of it.
    const broughtAgo = (ago: number) =>
      settled(2, means(750, 250, hours(2)), { moves: [moved("u"), moved("v"), moved("w", hours(-ago), B, A)] }).decisions[0]?.details[
        "real"
      ];
    expect(broughtAgo(0.5)).toBe(Math.round(700_000 / Math.E));
    expect(broughtAgo(5)).toBe(32);
  });

  it("expects what was really moved", () => {
    const { decisions } = settled(2, means(650, 350, hours(2)), { moves: [moved("u")] });
    expect(decisions).toMatchObject([{ verdict: "KEPT", details: { expected: 100_000, real: 100_000, moves: 1 } }]);
  });

  it.each([
    ["two hours since the last move are not over", 2.9, {}, [moved("u"), moved("v", hours(1))]],
    ["a move is under way", 3, { units: [unit("u", 100, B)] }, [moved("v")]],
    ["nothing was measured since", 3, {}, [moved("u"), moved("v", hours(1))]],
  ])("is open while %s", (_why, at, over, moves) => {
    const { state, decisions } = settled(at, means(100, 900, MADE), { ...over, moves });
    expect([state.promises, decisions]).toEqual([[promise], []]);
  });

  it("ends without a verdict where nothing was moved, or nothing is measured for hours", () => {
    const { state, decisions } = settled(2, means(100, 900, hours(2)), { moves: [moved("other"), moved("u", hours(-1))] });
    expect(decisions).toMatchObject([{ verdict: "NOT_MEASURED", rule: "NOTHING_MOVED" }]);
    expect(state).toMatchObject({ promises: [], measured: [] });
    expect(settled(8, means(100, 900)).decisions).toMatchObject([{ verdict: "NOT_MEASURED", rule: "NOT_MEASURED" }]);
  });

  it("grows by what is added to it, and is measured from what was before the first", () => {
    const later = promisesOf({ ...PLAN, id: "later" as PlanId }, [step("w")], FACTS, { means: means(500, 300), at: hours(1) });
    const { promises } = withPromises({ promises: promise === undefined ? [] : [promise] }, later);
    expect(promises).toMatchObject([{ plan: "later", since: MADE, at: hours(1), before: 750_000 }]);
    expect(promises?.[0]?.units.map(({ unit: id }) => id)).toEqual(["u", "v", "w"]);
  });
});

describe("measured loads", () => {
  const sample = (milliCpu: number, minutes: number) => [{ instanceId: A, at: millis(MADE + minutes * 60_000), total: cpu(milliCpu) }];
  it("are means of half an hour, and those of instances that are gone are forgotten", () => {
    const first = nextMeanLoads(means(0, 50), sample(100, 0));
    expect(first).toEqual({ a: { load: cpu(0), at: MADE } });
    expect(nextMeanLoads({}, sample(100, 0))).toEqual({ a: { load: cpu(100), at: MADE } });
    expect(nextMeanLoads(first, sample(100, 30))["a"]?.load.milliCpu).toBeCloseTo(63.2, 1);
    expect(nextMeanLoads(first, sample(100, 240))["a"]?.load.milliCpu).toBeGreaterThan(99.9);
  });
});
