import { expect, test } from "vitest";
import type { ApplicationId } from "../../domain/ids.ts";
import { createRestPatience } from "./rest-patience.ts";

test("a deletion may wait for half a minute from the first time it had to, each for itself, and anew once it is forgotten", () => {
  let nowMs = 1000;
  const patience = createRestPatience({ monotonicMs: () => nowMs });
  const [a, b] = ["a", "b"] as ApplicationId[];
  if (a === undefined || b === undefined) throw new Error("two ids");
  expect(patience.has(a)).toBe(true);
  nowMs += 29_999;
  expect(patience.has(a)).toBe(true);
  expect(patience.has(b)).toBe(true);
  nowMs += 1;
  expect(patience.has(a)).toBe(false);
  expect(patience.has(b)).toBe(true);
  patience.forget(a);
  expect(patience.has(a)).toBe(true);
});
