import { describe, expect, it } from "vitest";
import type { InstanceId, MoveId, PlanId } from "../../domain/ids.ts";
import { MOVE_PHASES, type Move, type MovePhase } from "../../domain/move.ts";
import type { CarriedStep } from "../../domain/plan.ts";
import { aFacts, aRow, aUnitRow, unitRows } from "../testing/facts.ts";
import { NOON } from "../testing/snapshots.ts";
import { areStepsRecorded, carriedStepOf, leaving, stepBefore, unplaceableSteps } from "./carried-steps.ts";
import { makePlan } from "./make-plan.ts";
import { SCHEDULER, storedPlanOf } from "./stored-plan.ts";

const [A, B] = [aRow("a", { state: "DRAINING" }), aRow("b")];
const planOf = (facts: ReturnType<typeof aFacts>) =>
  storedPlanOf(makePlan(facts, { kind: "rebalance" }, { at: NOON }), {
    ...{ id: "p-1" as PlanId, goal: "rebalance", subject: "", actor: SCHEDULER, at: NOON },
  });
const PLAN = planOf(aFacts([A, B], unitRows("a", 2, 50)));
const STEP = carriedStepOf(PLAN.moves[0]!, PLAN);
const MOVED: CarriedStep = { ...STEP, outcome: "moved" };
const live = (phase: MovePhase, unitId = STEP.unit) => ({ id: "m-1" as MoveId, unitId, phase }) as Move;

describe("a step that is carried out", () => {
  it("has no outcome at first, and the name that its unit had then", () => {
    expect(STEP).toEqual({
      ...{ unit: PLAN.moves[0]?.unit, name: STEP.unit.slice("u-".length), from: A.id, to: B.id, reason: "FORCED" },
      ...{ outcome: "dropped", why: "", move: undefined },
    });
  });

  it("keeps its outcome if it was made at once", () => {
    expect(stepBefore(STEP, { steps: [{ ...MOVED, unit: PLAN.moves[1]!.unit }, MOVED], moves: [] })).toBe(MOVED);
  });

  it("is tried again if it was dropped, or if its live move was given up", () => {
    expect(stepBefore(STEP, { steps: [], moves: [] })).toBeUndefined();
    expect(stepBefore(STEP, { steps: [STEP, { ...STEP, outcome: "asked" }], moves: [live("ABORTED")] })).toBeUndefined();
    expect(stepBefore(STEP, { steps: [], moves: [live("DONE", PLAN.moves[1]!.unit)] })).toBeUndefined();
  });

  it.each(MOVE_PHASES.filter((phase) => phase !== "ABORTED"))("is asked for while its live move is in %s", (phase) => {
    expect(stepBefore(STEP, { steps: [STEP], moves: [live("ABORTED"), live(phase)] })).toEqual({ ...STEP, outcome: "asked", move: "m-1" });
  });
});

describe("a unit for which there is no other instance", () => {
  const row = aUnitRow("huge", "a", 5_000);

  it("is dropped with the refusal of each instance, if it has to leave its own", () => {
    expect(unplaceableSteps(planOf(aFacts([A, B], [row])))).toEqual([
      {
        ...{ unit: row.unit.id, name: "huge", from: A.id, to: undefined, reason: "FORCED", outcome: "dropped", move: undefined },
        why: "no instance can take it; b: it would be at 500 % in applications, the bound was 90 %; a: it is DRAINING",
      },
    ]);
  });

  it("has its id for a name if the plan has none, and no refusals if there is no instance", () => {
    const { report } = planOf(aFacts([A, B], [row]));
    const nameless = { ...report, names: { units: {}, instances: {} } };
    expect(unplaceableSteps({ report: nameless })).toMatchObject([
      { name: row.unit.id, why: expect.stringContaining("i-a: it is DRAINING") },
    ]);
    const [one] = report["unplaceable"] as readonly [{ readonly answer: object }];
    const unrefused = { ...report, unplaceable: [{ ...one, answer: { ...one.answer, refusals: [] } }] };
    expect(unplaceableSteps({ report: unrefused })).toMatchObject([{ why: "no instance can take it" }]);
  });

  it("is no step if it has no instance: the scheduler places it", () => {
    expect(unplaceableSteps(planOf(aFacts([B], [aUnitRow("huge", undefined, 5_000)])))).toEqual([]);
  });
});

describe("the outcome of carrying out a plan", () => {
  const changed: readonly (readonly [string, Partial<CarriedStep>])[] = [
    ["another instance", { to: A.id }],
    ["no instance", { to: undefined }],
    ["another outcome", { outcome: "asked" }],
    ["another reason", { why: "it is gone" }],
    ["a live move", { move: "m-1" as MoveId }],
  ];

  it("is recorded already if every step came to the same, whatever else was carried out", () => {
    expect(areStepsRecorded([], [])).toBe(true);
    expect(areStepsRecorded([MOVED, STEP], [STEP])).toBe(true);
    expect(areStepsRecorded([], [STEP])).toBe(false);
    expect(areStepsRecorded([STEP], [STEP, { ...STEP, unit: PLAN.moves[1]!.unit }])).toBe(false);
  });

  it.each(changed)("is new with %s", (_what, change) => {
    expect(areStepsRecorded([STEP], [{ ...STEP, ...change }])).toBe(false);
    expect(areStepsRecorded([{ ...STEP, ...change }], [{ ...STEP, ...change }])).toBe(true);
  });

  it("is new with another live move", () => {
    const asked = { ...STEP, move: "m-1" as MoveId };
    expect(areStepsRecorded([asked], [{ ...asked, move: "m-2" as MoveId }])).toBe(false);
  });

  it("is limited to one instance if one is given", () => {
    const steps = [STEP, { ...STEP, from: "i-c" as InstanceId }, { ...STEP, from: undefined }];
    expect(leaving(steps, A.id)).toEqual([STEP]);
    expect(leaving(steps, undefined)).toBe(steps);
  });
});
