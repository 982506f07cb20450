import { expect, test } from "vitest";
import { millis } from "../../domain/clock.ts";
import { apps, NOON, ROOMY } from "../testing/snapshots.ts";
import { isOverloaded, nextOverloaded } from "./next-overloaded.ts";

const SINCE = millis(NOON - 60_000);

test.each([
  [900, undefined, undefined],
  [901, undefined, NOON],
  [901, SINCE, SINCE],
  [800, SINCE, SINCE],
  [799, SINCE, undefined],
])("an instance with %i of 1,000, overloaded since %s, is so since %s", (load, since, expected) => {
  const known = nextOverloaded([{ id: "a", load: apps(load), capacity: ROOMY, since }], NOON);
  expect(known).toEqual(expected === undefined ? {} : { a: expected });
});

test("an overload is believed after four minutes", () => {
  expect([239_999, 240_000].map((forMs) => isOverloaded(millis(NOON - forMs), NOON))).toEqual([false, true]);
  expect(isOverloaded(undefined, NOON)).toBe(false);
});
