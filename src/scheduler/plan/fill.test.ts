import { describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import { complete } from "../../domain/resumable.ts";
import { WHOLE } from "../policy.ts";
import { createRingMemo } from "../ring-memo.ts";
import { aCandidate, aSnapshot, aUnit, NOON } from "../testing/snapshots.ts";
import { planMoves } from "./plan-moves.ts";
import { DEFAULT_PLANNER_POLICY } from "./planner-policy.ts";
import type { PlanCandidate, PlanUnit } from "./snapshot.ts";

const ringOf = createRingMemo()("eu/shared/public");
const budgets = { ...DEFAULT_PLANNER_POLICY.budgets, workspaces: WHOLE };
const CANDIDATES = [aCandidate("b"), aCandidate("c"), aCandidate("new", { isFilling: true })];
const RING = complete(ringOf(CANDIDATES.map(({ id, weight }) => ({ id, weight }))));
const isNatural = (unit: string): boolean => RING.preferred(unit) === "new";
/** A unit that the ring would put on the new instance, or would not. */
const unit = (owner: string, load: number, natural: boolean, more: Partial<PlanUnit> = {}): PlanUnit => {
  const names = Array.from({ length: 50 }, (_, index) => `${owner}-${load}-${index}`);
  return aUnit(names.find((name) => isNatural(name) === natural) ?? "", owner, load, more);
};
const fixed = (owner: string, load: number) => unit(owner, load, true, { doNotMoveUntil: millis(NOON + 1) });
const plan = (held: readonly PlanUnit[], candidates: readonly PlanCandidate[] = CANDIDATES, more: Partial<typeof budgets> = {}) =>
  planMoves(aSnapshot(candidates, held), { policy: { ...DEFAULT_PLANNER_POLICY, budgets: { ...budgets, ...more } }, ringOf });
/** The moves, as owner and load. */
const taken = (...asked: Parameters<typeof plan>) => plan(...asked).moves.map(({ unit: each }) => each.split("-").slice(0, 2).join(" "));

// In each of these the mean is 300 of 1,000, and the new instance is filled up to 285.
describe("what a new instance takes", () => {
  it("is what the ring would put there, the largest first, and then the largest that fits", () => {
    const held = [unit("b", 60, true), unit("b", 70, true), unit("b", 250, false), unit("b", 100, false), fixed("b", 120), fixed("c", 300)];
    expect(taken(held)).toEqual(["b 70", "b 60", "b 100"]);
  });

  it("comes from the most loaded instance, again and again", () => {
    const of = (owner: string, ...loads: readonly number[]) => loads.map((load) => unit(owner, load, false));
    const held = [...of("b", 100, 40), fixed("b", 360), ...of("c", 110, 50), fixed("c", 240)];
    expect(taken(held)).toEqual(["b 100", "b 40", "c 110"]);
  });

  it("is no more than what is missing", () => {
    const held = (load: number) => [unit("b", load, false), fixed("b", 600 - load), fixed("c", 300)];
    expect(taken(held(285))).toEqual(["b 285"]);
    expect(taken(held(286))).toEqual([]);
  });

  it("leaves each giving instance no less than the new one should have", () => {
    const held = (load: number) => [unit("b", load, false), fixed("b", 400 - load), fixed("c", 500)];
    expect(taken(held(115))).toEqual(["b 115"]);
    expect(taken(held(116))).toEqual([]);
    const natural = (load: number) => [unit("b", load, true), fixed("b", 400 - load), fixed("c", 500)];
    expect([taken(natural(115)), taken(natural(116))]).toEqual([["b 115"], []]);
  });

  it("is no unit without load, that may not be there, or that has to stay", () => {
    const held = [unit("b", 0, true), unit("b", 100, true, { needs: { region: "us" } }), fixed("b", 500), fixed("c", 300)];
    expect(taken(held)).toEqual([]);
    expect(plan(held).report.left.shown).toMatchObject([{ rule: "DO_NOT_MOVE" }, { rule: "DO_NOT_MOVE" }]);
  });

  it("is recorded with what the instance is short of", () => {
    const { records } = plan([unit("b", 285, false), fixed("b", 315), fixed("c", 300)]);
    expect(records).toMatchObject([
      { reason: "FILL", cause: { rule: "BELOW", instance: "new", share: 0, limit: 285_000 }, answer: { chosen: "new", rule: "NAMED" } },
    ]);
  });

  it("stops at a budget, and says which", () => {
    const held = [unit("b", 60, true), unit("b", 70, true), unit("b", 50, false), fixed("b", 420), fixed("c", 300)];
    expect(taken(held)).toEqual(["b 70", "b 60", "b 50"]);
    const one = plan(held, CANDIDATES, { movesPerInstance: 1 });
    expect(one.moves).toHaveLength(1);
    expect(one.report.blockedBy).toMatchObject([{ rule: "INSTANCE_MOVES", subject: "b", used: 1, asked: 1, limit: 1 }]);
    const none = plan(held, CANDIDATES, { movesPerPlan: 0 });
    expect([none.moves, none.report.blockedBy]).toMatchObject([[], [{ rule: "PLAN_MOVES", used: 0, limit: 0 }]]);
    const two = plan(held, CANDIDATES, { movesPerHour: 2 });
    expect(two.moves).toHaveLength(2);
  });

  it("is taken by a second new instance too, each by itself", () => {
    const held = Array.from({ length: 60 }, (_, index) => aUnit(`u${index}`, index < 30 ? "b" : "c", 10));
    const { moves, report } = plan(held, [...CANDIDATES, aCandidate("newer", { isFilling: true })]);
    const to = (name: string) => moves.filter((move) => move.to === name).length;
    expect(report.mean).toBe(150_000);
    expect([to("new"), to("newer")]).toEqual([14, 6]);
    expect(plan(held, [...CANDIDATES, aCandidate("newer", { isFilling: true })], { movesPerPlan: 100 }).moves.length).toBe(28);
  });
});
