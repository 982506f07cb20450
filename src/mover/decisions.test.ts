import { expect, it } from "vitest";
import type { Move } from "../domain/move.ts";
import { LEFT_BEHIND, WORSE } from "../domain/move-messages.ts";
import { isSaid, lastWords } from "./decisions.ts";

type Ending = Pick<Move, "phase" | "message">;

it.each<[Ending, boolean, string]>([
  [{ phase: "CLEANUP", message: "" }, false, ""],
  [{ phase: "CLEANUP", message: "for its former instance, which gives no answer" }, false, ""],
  [{ phase: "CLEANUP", message: "for its former instance, which gives no answer" }, true, LEFT_BEHIND],
  [{ phase: "CLEANUP", message: `${WORSE}for web` }, false, `${WORSE}for web`],
  [{ phase: "CLEANUP", message: `${WORSE}for web` }, true, `${WORSE}for web; ${LEFT_BEHIND}`],
  [{ phase: "ABORT", message: "given up by otto" }, true, "given up by otto"],
])("of a move in %o whose source is away: %s, what is said in the end is %j", (move, isSourceAway, words) => {
  expect(lastWords(move, isSourceAway)).toBe(words);
});

it("says how a move ends before it has ended only where something was worse or it was given up", () => {
  expect(isSaid({ phase: "ABORT", message: "given up by otto" })).toBe(true);
  expect(isSaid({ phase: "CLEANUP", message: `${WORSE}for web` })).toBe(true);
  expect(isSaid({ phase: "CLEANUP", message: "for the former copy of web to end" })).toBe(false);
  expect(isSaid({ phase: "VERIFY", message: `${WORSE}for web` })).toBe(false);
});
