import { describe, expect, it } from "vitest";
import type { InstanceId, MoveId, UnitId } from "./ids.ts";
import type { Move, MovePhase } from "./move.ts";
import type { CarriedStep } from "./plan.ts";
import { countPlanStates, progressOf } from "./plan-progress.ts";

const MOVE = "move-1" as MoveId;
const STEP: CarriedStep = {
  unit: "unit-1" as UnitId,
  name: "team/one",
  from: "a" as InstanceId,
  to: "b" as InstanceId,
  reason: "HOT",
  outcome: "asked",
  why: "",
  move: MOVE,
};
const stateIn = (phase: MovePhase) => progressOf([STEP], new Map([[MOVE, { phase, message: phase } as Move]]))[0];

describe("a step of a plan that was carried out", () => {
  it.each<readonly [MovePhase, string]>([
    ["WAITING", "waiting"],
    ["PREPARE", "under-way"],
    ["CLEANUP", "under-way"],
    ["DONE", "moved"],
    ["REDIRECTED", "moved"],
    ["ABORTED", "refused"],
  ])("whose live move is in %s is %s, for the move's reason", (phase, state) => {
    expect(stateIn(phase)).toMatchObject({ state, why: phase });
  });

  it("needs no move where it had none to wait for", () => {
    expect(progressOf([{ ...STEP, outcome: "moved", move: undefined }], new Map())[0]).toMatchObject({ state: "moved", why: "" });
    expect(progressOf([{ ...STEP, outcome: "dropped", why: "full" }], new Map())[0]).toMatchObject({ state: "refused", why: "full" });
  });

  it("is gone with its move", () => {
    expect(progressOf([STEP], new Map())[0]).toMatchObject({ state: "gone", move: undefined });
  });

  it("is counted by its state", () => {
    expect(countPlanStates([{ state: "moved" }, { state: "gone" }, { state: "moved" }])).toEqual({
      moved: 2,
      "under-way": 0,
      waiting: 0,
      refused: 0,
      gone: 1,
    });
  });
});
