import { expect, test } from "vitest";
import { millis } from "../../domain/clock.ts";
import type { InstanceId } from "../../domain/ids.ts";
import { apps, NOON, ROOMY } from "../testing/snapshots.ts";
import { isOverloaded, nextOverloaded, unrelieved, withVerdicts } from "./next-overloaded.ts";

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

test("an overload by a health verdict is believed at once, and no other verdict counts as one", () => {
  const verdict = (instanceId: string, state: "overloaded" | "stalled") => ({ instanceId: instanceId as InstanceId, state, since: NOON });
  const reported = withVerdicts({ b: SINCE, c: millis(5) }, [
    verdict("a", "overloaded"),
    verdict("b", "stalled"),
    verdict("c", "overloaded"),
  ]);
  expect(reported).toEqual({ a: NOON - 240_000, b: SINCE, c: 5 });
  expect(isOverloaded(reported["a"], NOON)).toBe(true);
});

test("an instance that units are leaving, or left a moment ago, is not relieved again before the effect can show", () => {
  const [a, b, c, d, other] = ["a", "b", "c", "d", "other"] as unknown as readonly [
    InstanceId,
    InstanceId,
    InstanceId,
    InstanceId,
    InstanceId,
  ];
  const left = (from: InstanceId, reason: "HOT" | "SHED", forMs: number) => ({ from, reason, at: millis(NOON - forMs) });
  const seen = {
    instances: [a, b, c, d].map((id) => ({ id })),
    units: [
      { unit: { owner: a }, movingTo: d },
      { unit: { owner: d }, movingTo: undefined },
      { unit: {}, movingTo: undefined },
    ],
    moves: [left(b, "HOT", 149_999), left(c, "HOT", 150_000), left(d, "SHED", 1)],
  };
  const verdicts = (agoMs: number) => [a, b, c, d, other].map((instanceId) => ({ instanceId, at: millis(NOON - agoMs) }));
  expect(unrelieved(verdicts(300_000), seen, NOON).map(({ instanceId }) => instanceId)).toEqual([c, d]);
  // There was no verdict since.
  expect(unrelieved(verdicts(300_001), seen, NOON)).toEqual([]);
});
