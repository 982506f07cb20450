import { describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import type { InstanceId, PlanId, UnitId } from "../../domain/ids.ts";
import { MOVE_PHASES, type Move, type MovePhase } from "../../domain/move.ts";
import type { PlannedMove, StoredPlan } from "../../domain/plan.ts";
import { aFacts, aRow } from "../testing/facts.ts";
import { NOON } from "../testing/snapshots.ts";
import { carriedStepOf, concerning, exchangeOf, followersOf, mayFollowUp, partnersOf } from "./carried-steps.ts";
import { makePlan } from "./make-plan.ts";
import { SCHEDULER, storedPlanOf } from "./stored-plan.ts";

const [A, B, C] = ["i-a", "i-b", "i-c"] as unknown as readonly [InstanceId, InstanceId, InstanceId];
const step = (unit: string, from: InstanceId | undefined, to: InstanceId, reason: PlannedMove["reason"] = "SWAP"): PlannedMove => ({
  ...{ unit: unit as UnitId, from, to, epoch: 7, reason },
});
const [OUT, BACK, TOO] = [step("out", A, B), step("back", B, A), step("too", B, A)];
const [ASIDE, SHED] = [step("aside", A, C), step("shed", A, B, "SHED")];
const MOVES = [OUT, SHED, BACK, ASIDE, TOO];
const PLAN: StoredPlan = {
  ...storedPlanOf(makePlan(aFacts([aRow("a")], []), { kind: "rebalance" }, { at: NOON }), {
    ...{ id: "p-1" as PlanId, goal: "rebalance", subject: "", actor: SCHEDULER, at: NOON },
  }),
  moves: MOVES,
};
const live = (unitId: UnitId, phase: MovePhase) => ({ id: "m-1", unitId, phase }) as unknown as Move;

describe("an exchange", () => {
  it("has the steps both ways between two instances that change places, and no other steps between them", () => {
    expect(exchangeOf(OUT, MOVES)).toEqual([OUT, BACK, TOO]);
    expect(exchangeOf(TOO, MOVES)).toEqual([OUT, BACK, TOO]);
    expect(exchangeOf(ASIDE, MOVES)).toEqual([ASIDE]);
    expect(exchangeOf(SHED, MOVES)).toEqual([]);
    expect(partnersOf(OUT, [OUT, BACK, TOO])).toEqual([BACK, TOO]);
    expect(partnersOf(BACK, [OUT, BACK, TOO])).toEqual([OUT]);
  });

  it("is carried out both ways even if only steps away from one instance are asked for", () => {
    expect(concerning(MOVES, undefined)).toEqual(MOVES);
    expect(concerning(MOVES, A)).toEqual(MOVES);
    expect(concerning(MOVES, B)).toEqual([OUT, BACK, TOO]);
    expect(concerning(MOVES, C)).toEqual([ASIDE]);
  });
});

describe("the other half of an exchange", () => {
  const LEFT: readonly MovePhase[] = ["GRANT", "ACTIVATE", "VERIFY", "CLEANUP", "DONE", "REDIRECTED"];

  it.each(MOVE_PHASES)("follows a move of the first half in %s only if that has changed the owner", (phase) => {
    const follow = followersOf(PLAN, { steps: [], moves: [live(OUT.unit, phase)] });
    expect(follow).toEqual(LEFT.includes(phase) ? [BACK, TOO] : []);
  });

  it("follows a half that was moved at once, and not a step that only goes the same way", () => {
    const steps = (each: PlannedMove) => [{ ...carriedStepOf(each, PLAN), outcome: "moved" as const }];
    expect(followersOf(PLAN, { steps: steps(OUT), moves: [] })).toEqual([BACK, TOO]);
    expect(followersOf(PLAN, { steps: steps(TOO), moves: [] })).toEqual([OUT]);
    expect(followersOf(PLAN, { steps: steps(SHED), moves: [] })).toEqual([]);
  });

  it("is not asked for twice, but again if its move was given up", () => {
    const done = (phase: MovePhase) => ({ steps: [], moves: [live(OUT.unit, "DONE"), live(BACK.unit, phase)] });
    expect(followersOf(PLAN, done("WAITING"))).toEqual([TOO]);
    expect(followersOf(PLAN, done("ABORTED"))).toEqual([BACK, TOO]);
  });

  it("follows while its plan has been carried out and has not expired", () => {
    const applied = { ...PLAN, appliedAt: NOON };
    expect(mayFollowUp(applied, NOON)).toBe(true);
    expect(mayFollowUp(PLAN, NOON)).toBe(false);
    expect(mayFollowUp(applied, applied.expiresAt)).toBe(false);
    expect(mayFollowUp({ ...applied, moves: [SHED] }, NOON)).toBe(false);
    expect(mayFollowUp(applied, millis(applied.expiresAt - 1))).toBe(true);
  });
});
