import { expect, test } from "vitest";
import { millis } from "../domain/clock.ts";
import { loadVector, ZERO_LOAD } from "../domain/load.ts";
import { explainInstance } from "./explain-instance.ts";
import { aRow } from "./testing/facts.ts";
import { NOON } from "./testing/snapshots.ts";

test("an instance is explained by its state, how full it is, since when too full, and what was decided about it", () => {
  const instance = aRow("a", { state: "CORDONED", stateSince: NOON, reason: "cordoned by otto: odd disk" });
  const decision = {
    at: NOON,
    subject: "i-a",
    kind: "instance",
    verdict: "CORDONED",
    rule: "COMMAND",
    details: { reason: "odd disk" },
  } as const;
  const about = {
    instance,
    load: { ...ZERO_LOAD, applications: 450, milliCpu: 20 },
    units: 2,
    decisions: [decision, { ...decision, details: {} }],
  };
  const measured = { at: NOON, total: ZERO_LOAD };
  expect(explainInstance({ ...about, measured, aboveSince: NOON, overloadedSince: millis(NOON + 1000) })).toEqual([
    "instance a is CORDONED since 2023-11-14T22:13:20Z: cordoned by otto: odd disk",
    "  pool standard, class eu/shared/public, Argo CD 3.5.7, 2 placement units",
    "  0.45 applications of 1, 45 %",
    "  0 clusterEntries of 1000, 0 %",
    "  0 cachedResources of 1000, 0 %",
    "  20 milliCpu of 1000, 2 %",
    "  0 gitPerMinute of 1, 0 %",
    "  it was measured at 2023-11-14T22:13:20Z",
    "  too full since 2023-11-14T22:13:20Z: plans move units away once that has lasted half a day, or an hour beyond 90 %",
    "  overloaded since 2023-11-14T22:13:21Z: plans move units away at once",
    "  2023-11-14T22:13:20Z CORDONED (COMMAND): odd disk",
    "  2023-11-14T22:13:20Z CORDONED (COMMAND)",
  ]);
  const bare = { ...about, instance: aRow("a", { capacity: loadVector(() => 0) }), decisions: [], measured: undefined };
  expect(explainInstance({ ...bare, aboveSince: undefined, overloadedSince: undefined })).toContain("  it was never measured");
});
