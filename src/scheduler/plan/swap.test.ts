import { describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import { ZERO_LOAD } from "../../domain/load.ts";
import { WHOLE } from "../policy.ts";
import { createRingMemo } from "../ring-memo.ts";
import { aCandidate, aSnapshot, aUnit, LONG_ABOVE, NOON, units } from "../testing/snapshots.ts";
import { planMoves } from "./plan-moves.ts";
import { DEFAULT_PLANNER_POLICY, type PlannerPolicy } from "./planner-policy.ts";
import type { PlanUnit } from "./snapshot.ts";

const ringOf = createRingMemo()("eu/shared/public");
const budgets = { ...DEFAULT_PLANNER_POLICY.budgets, workspaces: WHOLE };
/** A snapshot of these instances, of which the first has long been too full. */
const plan = (held: readonly PlanUnit[], policy: Partial<PlannerPolicy> = {}, others: readonly string[] = ["b"]) =>
  planMoves(aSnapshot([aCandidate("a", LONG_ABOVE), ...others.map((name) => aCandidate(name))], held), {
    policy: { ...DEFAULT_PLANNER_POLICY, budgets, ...policy },
    ringOf,
  });
const steps = (...asked: Parameters<typeof plan>) => plan(...asked).moves.map(({ unit, to, reason }) => `${unit} ${to} ${reason}`);
const fixed = (name: string, owner: string, load: number) => aUnit(name, owner, load, { doNotMoveUntil: millis(NOON + 1) });
/** 780 of 1,000, of which 56 have to leave when the other instance carries 600: each unit alone is too large for it. */
const FULL = units("a", 3, 260);

describe("two units that change places", () => {
  it("are those that cost least of all that suffice", () => {
    const held = [...FULL, aUnit("b-140", "b", 140), aUnit("b-200", "b", 200), fixed("b-rest", "b", 260)];
    expect(steps(held)).toEqual([expect.stringMatching(/^a-\d+ b SWAP$/), "b-140 a SWAP"]);
  });

  it("are those that help most if none suffice", () => {
    const held = [...FULL, aUnit("b-210", "b", 210), aUnit("b-230", "b", 230), fixed("b-rest", "b", 160)];
    const { moves, report } = plan(held);
    expect(moves.map(({ unit }) => unit).toSorted()).toEqual([expect.stringMatching(/^a-/), "b-210"]);
    expect(report.after).toMatchObject({ worst: "a", share: 730_000, above: 0 });
  });

  it("leave the other instance within `shedTo`, and are not of equal size", () => {
    // 135 instead of 260 would make 725 of 600, where 724 are meant.
    expect(steps([...FULL, aUnit("b-135", "b", 135), fixed("b-rest", "b", 465)])).toEqual([]);
    expect(steps([...FULL, aUnit("b-136", "b", 136), fixed("b-rest", "b", 464)])).toHaveLength(2);
    expect(steps([...FULL, aUnit("b-260", "b", 260), fixed("b-rest", "b", 340)])).toEqual([]);
  });

  it("are recorded as named by the planner, each under the hard limit", () => {
    const { records } = plan([...FULL, aUnit("b-140", "b", 140), fixed("b-rest", "b", 460)]);
    expect(records.map(({ reason, cause, answer }) => [reason, cause.rule, answer.rule, answer.bound])).toEqual([
      ["SWAP", "ABOVE", "NAMED", 900_000],
      ["SWAP", "ABOVE", "NAMED", 900_000],
    ]);
  });

  it("move in the order that fits: first the one that leaves the full instance, unless only the other one fits", () => {
    const wide = (name: string, applications: number, milliCpu: number, more: Partial<PlanUnit> = {}) =>
      aUnit(name, name.charAt(0), 0, { load: { ...ZERO_LOAD, applications, milliCpu }, ...more });
    const stays = { doNotMoveUntil: millis(NOON + 1) };
    const held = (milliCpu: number, back = 130) => [
      ...[wide("a-out", 250, milliCpu), wide("a-rest", 500, 0, stays)],
      ...[wide("b-back", back, milliCpu), wide("b-rest", 560 - back, 400, stays)],
    ];
    expect(steps(held(0))).toEqual(["a-out b SWAP", "b-back a SWAP"]);
    expect(steps(held(300))).toEqual(["b-back a SWAP", "a-out b SWAP"]);
    // If neither fits while the other is still there, nothing moves.
    expect([steps(held(300, 150)).length, steps(held(300, 151)).length]).toEqual([2, 0]);
  });

  it("never bring together what has to live apart, even if the other one could go first", () => {
    const apart = { needs: { apart: "g" } };
    const held = (rest: Partial<PlanUnit>) => [
      ...[aUnit("a-240", "a", 240, apart), fixed("a-rest", "a", 520)],
      ...[aUnit("b-140", "b", 140), fixed("b-rest", "b", 220), aUnit("b-stays", "b", 260, { doNotMoveUntil: millis(NOON + 1), ...rest })],
    ];
    expect(steps(held({}))).toEqual(["a-240 b SWAP", "b-140 a SWAP"]);
    expect(steps(held(apart))).toEqual([]);
  });

  it("are searched on a number of the least loaded instances", () => {
    const held = [...FULL, aUnit("b-180", "b", 180), fixed("b-rest", "b", 420), fixed("c-rest", "c", 590)];
    expect(steps(held, { swapTargets: 1 }, ["b", "c"])).toEqual([]);
    expect(steps(held, { swapTargets: 2 }, ["b", "c"])).toHaveLength(2);
  });

  it("are two moves to every budget, made together or not at all", () => {
    const held = [...FULL, aUnit("b-140", "b", 140), fixed("b-rest", "b", 460)];
    const { moves, report } = plan(held, { budgets: { ...budgets, movesPerInstance: 1 } });
    expect(moves).toEqual([]);
    expect(report.blockedBy).toEqual([{ rule: "INSTANCE_MOVES", subject: "a", used: 0, asked: 2, limit: 1 }]);
    expect(steps(held, { budgets: { ...budgets, movesPerInstance: 2, movesPerPlan: 2 } })).toHaveLength(2);
  });
});
