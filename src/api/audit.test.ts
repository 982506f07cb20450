import { expect, test } from "vitest";
import { createVirtualClock } from "../runtime/testing/virtual-clock.ts";
import { createMemoryStore } from "../store/adapters/memory/memory-store.ts";
import { anAuditEntry } from "../store/testing/builders.ts";
import { silentLog } from "../telemetry/log.ts";
import { noMetrics } from "../telemetry/metrics.ts";
import { createRefusals } from "./audit.ts";

const { signal } = new AbortController();
const MINUTES = 60_000;

function aTrail() {
  const clock = createVirtualClock(0);
  const store = createMemoryStore({ clock });
  const refusals = createRefusals({ audit: store.audit, clock, log: silentLog, metrics: noMetrics });
  const refuse = (over: Parameters<typeof anAuditEntry>[0] = {}) => refusals.count(anAuditEntry({ outcome: "refused", ...over }));
  const counts = async () =>
    (await store.audit.list({}, { limit: 1000, order: "oldest-first" }, signal)).map(({ actor, count }) => [actor, count]);
  return { clock, store, refusals, refuse, counts };
}

test("10,000 refusals of one caller become two records, the first at once", async () => {
  const { clock, refuse, counts } = aTrail();
  for (let index = 0; index < 10_000; index += 1) refuse();
  await clock.advance(0);
  expect(await counts()).toEqual([["ada", 1]]);
  await clock.advance(5 * MINUTES);
  expect(await counts()).toEqual([
    ["ada", 1],
    ["ada", 9_999],
  ]);
  await clock.advance(60 * MINUTES);
  expect(await counts()).toHaveLength(2);
});

test("10,000 callers become a hundred records and one of all others", async () => {
  const { clock, refuse, counts } = aTrail();
  for (let index = 0; index < 10_000; index += 1) refuse({ remote: `10.0.${index >> 8}.${index & 255}` });
  await clock.advance(5 * MINUTES);
  const found = await counts();
  expect(found.reduce((sum, [, count]) => sum + Number(count), 0)).toBe(10_000);
  expect(found.length).toBeLessThanOrEqual(102);
  expect(found).toContainEqual(["unauthenticated", expect.any(Number)]);
});

test("callers are told apart by who they are, where they come from and what they asked for", async () => {
  const { clock, refuse, counts } = aTrail();
  for (const over of [{}, { actor: "bob" }, { remote: "10.0.0.2" }, { action: "other" }, { code: "api.no-token" }, {}]) refuse(over);
  await clock.advance(0);
  expect(await counts()).toHaveLength(5);
});

test("what a database that is away could not take is recorded with its number once it is back", async () => {
  const { clock, store, refuse, counts } = aTrail();
  store.setAway(true);
  for (let index = 0; index < 5; index += 1) refuse();
  await clock.advance(5 * MINUTES);
  store.setAway(false);
  await clock.advance(5 * MINUTES);
  expect(await counts()).toEqual([["ada", 5]]);
});

test("what has been counted is recorded when the API closes", async () => {
  const { clock, refusals, refuse, counts } = aTrail();
  refuse();
  await clock.advance(0);
  refuse();
  refuse();
  await refusals.close();
  expect(await counts()).toEqual([
    ["ada", 1],
    ["ada", 2],
  ]);
});
