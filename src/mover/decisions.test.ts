import { expect, it } from "vitest";
import type { Move } from "../domain/move.ts";
import { givenUpBy, LEFT_BEHIND, type MoveMessage, worse } from "../domain/move-messages.ts";
import { isDecisionSaid, lastWords } from "./decisions.ts";

type Ending = MoveMessage & Pick<Move, "phase">;

const NOTHING: MoveMessage = { message: "", messageCode: undefined };
const WAITS: MoveMessage = { message: "for its former instance, which gives no answer", messageCode: "WAITS" };
const WORSE = worse("for web");

it.each<[Ending, boolean, MoveMessage]>([
  [{ phase: "CLEANUP", ...NOTHING }, false, NOTHING],
  [{ phase: "CLEANUP", ...WAITS }, false, NOTHING],
  [{ phase: "CLEANUP", ...WAITS }, true, { ...NOTHING, message: LEFT_BEHIND }],
  [{ phase: "CLEANUP", ...WORSE }, false, WORSE],
  [{ phase: "CLEANUP", ...WORSE }, true, { ...WORSE, message: `VERIFY failed, waiting for web; ${LEFT_BEHIND}` }],
  [{ phase: "ABORT", ...givenUpBy("otto") }, true, { message: "given up by otto", messageCode: "GIVEN_UP" }],
])("of a move in %o whose source is away: %s, what is said in the end is %o", (move, isSourceAway, words) => {
  expect(lastWords(move, isSourceAway)).toEqual(words);
});

it("says how a move ends before it has ended only where something was worse or it was given up", () => {
  expect(isDecisionSaid({ phase: "ABORT", ...givenUpBy("otto") })).toBe(true);
  expect(isDecisionSaid({ phase: "CLEANUP", ...WORSE })).toBe(true);
  expect(isDecisionSaid({ phase: "CLEANUP", ...WAITS })).toBe(false);
  expect(isDecisionSaid({ phase: "VERIFY", ...WORSE })).toBe(false);
});

it("reads no message to know what it says", () => {
  expect(isDecisionSaid({ ...WORSE, phase: "CLEANUP", messageCode: "WAITS" })).toBe(false);
  expect(isDecisionSaid({ phase: "CLEANUP", messageCode: "WORSE" })).toBe(true);
});
