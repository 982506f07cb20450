import { expect, it } from "vitest";
import { createUnanswered, MAY_LAND_MS } from "./unanswered.ts";

it("may land for a minute after it was sent, whatever was answered since, and says nothing of others", () => {
  const unanswered = createUnanswered();
  expect(unanswered.mayLand("application a/b", 0)).toBe(false);
  unanswered.lost("application a/b", 1_000);
  expect(unanswered.mayLand("application a/b", MAY_LAND_MS)).toBe(true);
  expect(unanswered.mayLand("application a/b", MAY_LAND_MS + 1_000)).toBe(false);
  expect(unanswered.mayLand("application a/c", 1_000)).toBe(false);
});

it("counts from the last one, and keeps none that cannot land any more", () => {
  const unanswered = createUnanswered();
  unanswered.lost("one", 0);
  unanswered.lost("one", 10_000);
  expect(unanswered.mayLand("one", MAY_LAND_MS + 5_000)).toBe(true);
  unanswered.lost("two", 2 * MAY_LAND_MS);
  expect(unanswered.mayLand("one", 20_000)).toBe(false);
});
