import { describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import type { InstanceId, UnitId } from "../../domain/ids.ts";
import type { PlannedMove } from "../../domain/plan.ts";
import { NO_CONSTRAINTS } from "../eligibility.ts";
import { apps, aUnit, NOON, ROOMY } from "../testing/snapshots.ts";
import { type CurrentRows, whyDropped } from "./validate-step.ts";

const [A, B, C] = ["a", "b", "c"] as unknown as [InstanceId, InstanceId, InstanceId];
const MOVE: PlannedMove = { unit: "u" as UnitId, from: A, to: B, epoch: 1, reason: "SHED" };
const ROWS: CurrentRows = {
  at: NOON,
  unit: aUnit("u", "a", 100),
  constraints: NO_CONSTRAINTS,
  target: { id: B, state: "ACTIVE", load: apps(800), capacity: ROOMY },
  hardLimit: 900_000,
  isFrozen: false,
};
const drop = (rows: Partial<CurrentRows>, move: Partial<PlannedMove> = {}) => whyDropped({ ...MOVE, ...move }, { ...ROWS, ...rows });

describe("a move that is about to start", () => {
  it("may, while the rows are as the plan saw them", () => {
    expect(drop({})).toBeUndefined();
    expect(drop({ unit: aUnit("u", undefined, 100) }, { from: undefined })).toBeUndefined();
  });

  it.each<[string, Partial<CurrentRows>, object]>([
    ["its unit is gone", { unit: undefined }, { rule: "UNIT_GONE" }],
    ["its unit was moved by somebody else", { unit: aUnit("u", "a", 1, { epoch: 2 }) }, { rule: "MOVED_SINCE", epoch: 2 }],
    ["its unit has another owner", { unit: aUnit("u", "c", 1) }, { rule: "OWNER_CHANGED", owner: "c" }],
    ["its unit is on its way", { unit: aUnit("u", "a", 1, { movingTo: C }) }, { rule: "MOVING", to: "c" }],
    [
      "its unit must not move any more",
      { unit: aUnit("u", "a", 1, { doNotMoveUntil: millis(NOON + 1) }) },
      { rule: "DO_NOT_MOVE", until: NOON + 1 },
    ],
    ["a freeze began", { isFrozen: true }, { rule: "FROZEN" }],
    ["its target is gone", { target: undefined }, { rule: "TARGET_GONE" }],
    [
      "its target takes nothing new",
      { target: { ...ROWS.target!, state: "CORDONED" } },
      { rule: "REFUSED", refusal: { instance: "b", rule: "STATE", state: "CORDONED" } },
    ],
    [
      "its target filled up",
      { target: { ...ROWS.target!, load: apps(801) } },
      { rule: "REFUSED", refusal: { rule: "BOUND", would: 901_000 } },
    ],
    [
      "it was pinned elsewhere",
      { constraints: { ...NO_CONSTRAINTS, needs: [{ pinnedTo: [A] }] } },
      { rule: "REFUSED", refusal: { rule: "PINNED" } },
    ],
  ])("is dropped when %s", (_what, rows, dropped) => {
    expect(drop(rows)).toMatchObject(dropped);
  });

  it("may in a freeze and in spite of do-not-move when it is forced", () => {
    expect(drop({ isFrozen: true, unit: aUnit("u", "a", 1, { doNotMoveUntil: millis(NOON + 1) }) }, { reason: "FORCED" })).toBeUndefined();
    expect(drop({ unit: aUnit("u", "a", 1, { doNotMoveUntil: NOON }) })).toBeUndefined();
  });
});
