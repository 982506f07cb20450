import { expect, it } from "vitest";
import { millis } from "../domain/clock.ts";
import { MOVE_PHASES, type MovePhase } from "../domain/move.ts";
import { carriedOver, observeAgainMs } from "./next-observation.ts";
import { aMove } from "./testing/model.ts";

const next = (from: MovePhase, to: MovePhase) =>
  carriedOver({ move: { ...aMove(), phase: from }, world: { now: millis(1) } }, { to, message: "" }, millis(7));

it("decides a phase from what was seen in the one before only where that is all it is decided from", () => {
  const forward = MOVE_PHASES.slice(0, MOVE_PHASES.indexOf("CLEANUP") + 1);
  const pairs = forward.flatMap((phase, index) => {
    const to = forward[index + 1];
    return to !== undefined && next(phase, to) !== undefined ? [`${phase} → ${to}`] : [];
  });
  expect(pairs).toEqual(["PREPARE → FENCE", "FENCE → QUIESCE", "REVOKE → COMMIT", "ACTIVATE → VERIFY"]);
  expect(next("PREPARE", "FENCE")).toMatchObject({ move: { phase: "FENCE", phaseSince: 7 }, world: { now: 7 } });
});

it("observes seldom where changes are reported, and where it takes long", () => {
  expect(observeAgainMs("QUIESCE", 0)).toBeLessThan(observeAgainMs("QUIESCE", 60_000));
  expect(observeAgainMs("QUIESCE", 0, true)).toBe(observeAgainMs("QUIESCE", 60_000));
});
