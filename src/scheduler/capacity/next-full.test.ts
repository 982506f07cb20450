import { describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import type { InstanceId } from "../../domain/ids.ts";
import { loadVector } from "../../domain/load.ts";
import { anInstance, aPool } from "../../store/testing/builders.ts";
import { capacityOfFull, type FullFacts, nextFull } from "./next-full.ts";

const DAY_MS = 24 * 3_600_000;
const NOW = millis(1_000 * DAY_MS);
const A = anInstance({ id: "a" as InstanceId, name: "standard-1" });
const LOAD = loadVector(() => 100);
const out = { instanceId: A.id, cause: "memory", component: "controller", at: NOW } as const;
const facts = (over: Partial<FullFacts> = {}): FullFacts => ({
  ...{ instances: [A], verdicts: [out], raisable: [], limits: {}, at: NOW },
  ...{
    units: [
      { unit: { owner: A.id, load: LOAD } },
      { unit: { owner: A.id, load: LOAD } },
      { unit: { owner: "b" as InstanceId, load: LOAD } },
    ],
  },
  ...over,
});
const TWICE = loadVector(() => 200);
const { resources } = aPool("standard");
const raisable = [aPool("standard", { resources: { ...resources, max: { controller: { memory: "8Gi" } } } })];
const limit = { given: "8Gi", why: "MAXIMUM", since: NOW, seenAt: NOW } as const;

describe("an instance whose controller runs out of memory", () => {
  it("is full with what it holds", () => {
    expect(nextFull({}, facts())).toEqual({ a: { at: NOW, load: TWICE } });
    const own = { ...A, entries: "per-workspace" } as const;
    expect(nextFull({}, facts({ instances: [own] }))).toMatchObject({ a: { load: { clusterEntries: 202, applications: 200 } } });
  });

  it.each<readonly [string, Partial<FullFacts>]>([
    ["where its memory is enough", { verdicts: [] }],
    ["where another component runs out of it", { verdicts: [{ ...out, component: "redis" }] }],
    ["by a verdict that nobody renewed", { verdicts: [{ ...out, at: millis(NOW - 300_001) }] }],
    ["while it may be given more", { raisable }],
    ["where it holds nothing", { units: [] }],
  ])("is not full %s", (_what, over) => expect(nextFull({}, facts(over))).toEqual({}));

  it("is full once it cannot be given more, or its pool does not name its memory", () => {
    expect(nextFull({}, facts({ raisable, limits: { a: { ...limit, amount: "controller.memory" } } }))).toHaveProperty("a");
    expect(nextFull({}, facts({ raisable, limits: { a: { ...limit, amount: "controller.cpu" } } }))).toEqual({});
    const disk = [aPool("standard", { resources: { ...resources, max: { repoServer: { disk: "40Gi" } } } })];
    expect(nextFull({}, facts({ raisable: disk }))).toHaveProperty("a");
  });

  it("stays so for a week, until it is gone or was given more", () => {
    const known = { a: { at: NOW, load: TWICE } };
    const later = (ms: number, over: Partial<FullFacts> = {}) => nextFull(known, facts({ verdicts: [], at: millis(NOW + ms), ...over }));
    expect(later(7 * DAY_MS - 1)).toEqual(known);
    expect(later(7 * DAY_MS)).toEqual({});
    expect(later(1, { instances: [] })).toEqual({});
    const given = (at: number) => [{ ...A, raised: { amounts: { "controller.memory": "8Gi" }, at: millis(at) } }];
    expect(later(2, { instances: given(NOW + 1) })).toEqual({});
    expect(later(2, { instances: given(NOW) })).toEqual(known);
  });

  it("bears no more of what takes memory, and as much of the rest as is declared", () => {
    const capacity = { ...loadVector(() => 1_000), clusterEntries: 50 };
    expect(capacityOfFull(capacity, { load: TWICE })).toEqual({
      ...{ applications: 200, clusterEntries: 50, cachedResources: 200, milliCpu: 1_000, gitPerMinute: 1_000 },
    });
    expect(capacityOfFull(capacity, undefined)).toBe(capacity);
  });
});
