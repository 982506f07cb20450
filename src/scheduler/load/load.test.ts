import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import type { EnvironmentId, UnitId } from "../../domain/ids.ts";
import { LOAD_DIMENSIONS, loadVector, ZERO_LOAD } from "../../domain/load.ts";
import { NOON } from "../testing/snapshots.ts";
import { apportion } from "./apportion.ts";
import { attributeLoad, type ComparisonRate, type InstanceSignals, type UnitSignals } from "./attribute-load.ts";
import { type CpuObservation, FIRST_WEIGHTS, nextCpuWeights } from "./cpu-weights.ts";
import { defaultCapacity } from "./default-capacity.ts";
import { ewma, firstLoad, nextLoad, presentLoad, type UnitLoad, wholeLoad } from "./planning-load.ts";

const MINUTE = 60_000;
const DAY = 1_440 * MINUTE;

describe("a unit's load", () => {
  const known: UnitLoad = { planning: loadVector(() => 100), recent: loadVector(() => 100), at: NOON };
  const later = (minutes: number, milliCpu: number, from = known) =>
    nextLoad(from, { at: millis(from.at + minutes * MINUTE), load: { milliCpu } });

  it("follows counts at once, and CPU and Git requests over a day", () => {
    const next = nextLoad(known, { at: millis(NOON + DAY), load: loadVector(() => 200) });
    for (const dimension of ["applications", "clusterEntries", "cachedResources"] as const) expect(next.planning[dimension]).toBe(200);
    for (const dimension of ["milliCpu", "gitPerMinute"] as const) expect(next.planning[dimension]).toBeCloseTo(200 - 100 / Math.E);
    expect(next.at).toBe(NOON + DAY);
  });

  it("comes to the same in two samples as in one that lasts as long", () => {
    expect(ewma(ewma(100, 200, 0.2), 200, 0.3)).toBeCloseTo(ewma(100, 200, 0.5));
  });

  it("is moved by a peak of an hour a little, and by noise hardly at all", () => {
    let load = known;
    for (let minute = 0; minute < 60; minute += 5) load = later(5, 500, load);
    expect(load.planning.milliCpu).toBeLessThan(120);
    let noisy = known;
    for (let index = 0; index < 2_000; index += 1) noisy = later(5, index % 2 === 0 ? 40 : 160, noisy);
    expect(Math.abs(noisy.planning.milliCpu - 100)).toBeLessThan(1);
  });

  it("moves a small load too, although each sample changes it by less than one", () => {
    let load: UnitLoad = { ...known, planning: { ...known.planning, milliCpu: 3 } };
    for (let index = 0; index < 2_000; index += 1) load = later(5, 50, load);
    expect(load.planning.milliCpu).toBeGreaterThan(49);
    expect(wholeLoad(load.planning).milliCpu).toBe(50);
  });

  it("as it is now rises with a sample and falls over ten minutes", () => {
    expect(later(1, 900).recent.milliCpu).toBe(900);
    expect(later(10, 0).recent.milliCpu).toBeCloseTo(100 / Math.E);
    expect(presentLoad(100, 100, MINUTE)).toBe(100);
  });

  it("stays as it was in dimensions that were not measured, or whose value is impossible", () => {
    for (const value of [Number.NaN, -1, Number.POSITIVE_INFINITY, 1e12, 0.5])
      expect(nextLoad(known, { at: millis(NOON + MINUTE), load: { milliCpu: value, applications: value } })).toEqual({
        ...known,
        at: NOON + MINUTE,
      });
    expect(nextLoad(known, { at: millis(NOON + MINUTE), load: {} }).planning).toEqual(known.planning);
  });

  it("ignores a sample that is no newer than the last, or that has no time", () => {
    for (const at of [NOON, millis(NOON - MINUTE), millis(Number.NaN)]) expect(nextLoad(known, { at, load: { milliCpu: 9 } })).toBe(known);
  });

  it("starts from the number of applications", () => {
    expect(firstLoad(10, 1)).toEqual({ applications: 10_000, clusterEntries: 1, cachedResources: 120, milliCpu: 25, gitPerMinute: 5_000 });
    expect(firstLoad(-1, 0)).toEqual(ZERO_LOAD);
  });
});

describe("dealing a whole number", () => {
  it("adds up, gives nobody more than one beyond its share, and nothing to a weight of zero", () => {
    fc.assert(
      fc.property(fc.nat({ max: 100_000 }), fc.array(fc.nat({ max: 1_000 }), { minLength: 1 }), (total, weights) => {
        const dealt = apportion(total, weights);
        const sum = weights.reduce((a, b) => a + b, 0);
        expect(dealt.reduce((a, b) => a + b, 0)).toBe(sum === 0 ? 0 : total);
        for (const [index, weight] of weights.entries())
          if (sum > 0) expect(Math.abs((dealt[index] as number) - (total * weight) / sum)).toBeLessThan(1);
      }),
    );
  });

  it("gives what is left to the largest remainders, the earlier first", () => {
    expect(apportion(10, [1, 1, 1])).toEqual([4, 3, 3]);
    expect(apportion(10, [1, 2, 1])).toEqual([3, 5, 2]);
    expect(apportion(10, [3, 3, 1])).toEqual([4, 4, 2]);
    expect(apportion(9, [1, 2, 1, 2])).toEqual([2, 3, 1, 3]);
    expect(apportion(5, [])).toEqual([]);
    expect(apportion(5, [0, 0])).toEqual([0, 0]);
  });
});

describe("dealing an instance's load to its units", () => {
  const unit = (name: string, more: Partial<UnitSignals> = {}): UnitSignals => ({
    unit: name as UnitId,
    projects: [`p-${name}`],
    destinations: [own()],
    repositories: {},
    ...more,
  });
  const own = (applications = 2, resources = 30) => ({ isOwn: true, environments: [], applications, resources });
  const through = (environment: string, applications = 2, resources = 30) => ({
    ...{ isOwn: false, environments: [environment as EnvironmentId], applications, resources },
  });
  const at = (ms: number, count = 0): ComparisonRate => ({ count, ms });
  const WEIGHTS = { base: 20, request: 1, resource: 0, application: 10 };
  const SIGNALS: InstanceSignals = {
    ...{ milliCpu: 120, requestsPerMinute: { "p-a": 60, "p-b": 0 }, shared: at(0), environments: new Map(), git: undefined },
  };
  const times = (shared: ComparisonRate, environments: Readonly<Record<string, ComparisonRate>> = {}) => ({
    ...{ shared, environments: new Map(Object.entries(environments) as [EnvironmentId, ComparisonRate][]) },
  });
  const cpuOf = (units: readonly UnitSignals[], more: Partial<InstanceSignals>): Readonly<Record<string, number>> =>
    Object.fromEntries([...attributeLoad(units, { ...SIGNALS, ...more }, WEIGHTS)].map(([id, { milliCpu }]) => [id, milliCpu]));

  it("gives each its counts, and CPU by what it causes", () => {
    const dealt = attributeLoad([unit("b"), unit("a")], SIGNALS, WEIGHTS);
    expect(dealt.get("a" as UnitId)).toEqual({ applications: 2_000, clusterEntries: 0, cachedResources: 30, milliCpu: 80 });
    expect(dealt.get("b" as UnitId)).toEqual({ applications: 2_000, clusterEntries: 0, cachedResources: 30, milliCpu: 20 });
  });

  it("counts the requests of all of a unit's projects as its own", () => {
    const two = unit("a", { projects: ["p-a", "q-a"] });
    const shared = cpuOf([two, unit("b")], { requestsPerMinute: { "p-a": 20, "q-a": 40, "p-b": 0 } });
    expect(shared).toEqual(cpuOf([unit("a"), unit("b")], {}));
  });

  it("deals the same whatever the order of units, and all of the CPU", () => {
    const units = ["c", "a", "b"].map((name) => unit(name));
    const signals = { ...SIGNALS, milliCpu: 121, requestsPerMinute: {} };
    const dealt = attributeLoad(units, signals, WEIGHTS);
    expect(attributeLoad([...units].reverse(), signals, WEIGHTS)).toEqual(dealt);
    expect([...dealt.values()].reduce((sum, { milliCpu }) => sum + milliCpu, 0)).toBe(101);
  });

  it("takes impossible values for not measured", () => {
    const bad = {
      ...{ milliCpu: Number.NaN, requestsPerMinute: { "p-a": -5 }, ...times(at(Number.NaN, -4), { e: at(-7) }) },
      git: { requests: { x: Number.POSITIVE_INFINITY }, ms: { x: -1 } },
    };
    const dealt = attributeLoad([unit("a", { destinations: [own(Number.NaN, -1)], repositories: { x: 1 } })], bad, WEIGHTS);
    expect(dealt.get("a" as UnitId)).toEqual({ applications: 0, clusterEntries: 0, cachedResources: 0, milliCpu: 0 });
    expect(attributeLoad([unit("a")], { ...SIGNALS, milliCpu: 5 }, WEIGHTS).get("a" as UnitId)?.milliCpu).toBe(0);
    expect(cpuOf([unit("b"), unit("c")], { ...bad, milliCpu: 120 })).toEqual({ b: 50, c: 50 });
  });

  it("gives a unit that deploys to an environment the time that was spent there, whatever else it has", () => {
    const units = [unit("a", { destinations: [through("e", 1, 0)] }), unit("b"), unit("c")];
    expect(cpuOf(units, times(at(300), { e: at(700) }))).toEqual({ a: 70, b: 15, c: 15 });
  });

  it("deals the time of the shared entry only by what goes through that entry", () => {
    const units = [unit("b"), unit("c", { destinations: [own(), through("e", 50, 900)] })];
    expect(cpuOf(units, times(at(1_000)))).toEqual({ b: 50, c: 50 });
    expect(attributeLoad(units, SIGNALS, WEIGHTS).get("c" as UnitId)).toMatchObject({ applications: 52_000, clusterEntries: 1 });
  });

  it("deals one environment's time to the parts of a workspace that share it", () => {
    const units = [unit("b", { destinations: [through("e", 3, 0)] }), unit("c", { destinations: [through("e", 1, 0)] })];
    expect(cpuOf(units, times(at(0), { e: at(10) }))).toEqual({ b: 75, c: 25 });
  });

  it("gives a unit that is compared more often more of the time, by requests to Git", () => {
    const units = [unit("b", { repositories: { x: 2 } }), unit("c", { repositories: { y: 2 } })];
    const git = { requests: { x: 60, y: 20 }, ms: {} };
    expect(cpuOf(units, { ...times(at(1_000, 80)), git })).toEqual({ b: 75, c: 25 });
    expect(cpuOf(units, times(at(1_000, 80)))).toEqual({ b: 50, c: 50 });
  });

  it("gives the time that Git took to the readers of the repository, and no more than there was", () => {
    const units = [unit("b", { repositories: { slow: 2, both: 1 } }), unit("c", { repositories: { fast: 2, both: 1 } })];
    const requests = { slow: 10, fast: 10 };
    expect(cpuOf(units, { ...times(at(1_000, 20)), git: { requests, ms: { slow: 400, fast: 0, both: 200 } } })).toEqual({ b: 70, c: 30 });
    expect(cpuOf(units, { ...times(at(100, 20)), git: { requests, ms: { slow: 400, fast: 100 } } })).toEqual({ b: 80, c: 20 });
    expect(cpuOf(units, { ...times(at(100, 20)), git: { requests, ms: { slow: 40, orphan: 90 } } })).toEqual({ b: 70, c: 30 });
  });

  it("gives each destination of a unit its share of the unit's requests, by applications", () => {
    const units = [unit("b", { destinations: [own(), through("e")], repositories: { x: 4 } }), unit("c", { repositories: { y: 2 } })];
    // Eight comparisons a minute for each repository; half of one and of its requests, of b, goes through the shared entry.
    const requests = { x: 80, y: 40 };
    expect(cpuOf(units, { ...times(at(1_000, 100)), requestsPerMinute: {}, git: { requests, ms: {} } })).toEqual({ b: 52, c: 48 });
    expect(cpuOf(units, { ...times(at(1_000, 100)), requestsPerMinute: {}, git: { requests, ms: { x: 400 } } })).toEqual({ b: 62, c: 38 });
  });

  it("weighs comparisons by the weights at the usual pace, and by more at a faster pace, besides requests", () => {
    const units = [unit("b"), unit("c")];
    const requestsPerMinute = { "p-b": 60 };
    expect(cpuOf(units, { ...times(at(1_000, 1.6)), requestsPerMinute })).toEqual({ b: 80, c: 20 });
    expect(cpuOf(units, { ...times(at(1_000, 3.2)), requestsPerMinute })).toEqual({ b: 71, c: 29 });
    expect(cpuOf([unit("b"), unit("c", { destinations: [own(0, 0)] })], times(at(1_000, 1.6)))).toEqual({ b: 100, c: 0 });
  });

  it("weighs cached resources, too", () => {
    const units = [unit("b", { destinations: [own(2, 30)] }), unit("c", { destinations: [own(2, 0)] })];
    const dealt = attributeLoad(units, { ...SIGNALS, requestsPerMinute: {} }, { ...WEIGHTS, resource: 1 });
    expect([...dealt.values()].map(({ milliCpu }) => milliCpu)).toEqual([71, 29]);
  });

  it("gives everything to an environment if time was spent on it alone", () => {
    expect(cpuOf([unit("b", { destinations: [through("e")] }), unit("c")], times(at(0), { e: at(10) }))).toEqual({ b: 100, c: 0 });
  });

  it("gives the time of an entry that no unit uses any more to nobody", () => {
    expect(cpuOf([unit("b")], times(at(250), { gone: at(750) }))).toEqual({ b: 25 });
  });
});

describe("what CPU is made of", () => {
  const truth = { base: 6, request: 0.06, resource: 0.0025, application: 0.07 };
  const observe = (index: number, factor = 1): CpuObservation => {
    const [requests, resources, applications] = [100 + 37 * (index % 7), 5_000 + 911 * (index % 5), 200 + 53 * (index % 11)];
    const milliCpu = truth.base + truth.request * requests + truth.resource * resources + truth.application * applications;
    return { instance: `i${String(index).padStart(2, "0")}`, milliCpu: milliCpu * factor, requests, resources, applications };
  };
  const DAYS = Array.from({ length: 40 }, (_, index) => observe(index));
  const predicted = (weights: typeof truth, { requests, resources, applications }: CpuObservation) =>
    weights.base + weights.request * requests + weights.resource * resources + weights.application * applications;

  it("is fitted to what was observed, in whatever order", () => {
    const weights = nextCpuWeights(FIRST_WEIGHTS, DAYS);
    for (const day of DAYS) expect(Math.abs(predicted(weights, day) - day.milliCpu)).toBeLessThan(0.03 * day.milliCpu);
    expect(nextCpuWeights(FIRST_WEIGHTS, [...DAYS].reverse())).toEqual(weights);
  });

  it("changes by at most 30 % a day, whatever was observed", () => {
    for (const factor of [0, 10]) {
      const weights = nextCpuWeights(
        FIRST_WEIGHTS,
        Array.from({ length: 40 }, (_, index) => observe(index, factor)),
      );
      for (const name of ["base", "request", "resource", "application"] as const) {
        expect(weights[name]).toBeGreaterThanOrEqual(FIRST_WEIGHTS[name] * 0.7 - 1e-9);
        expect(weights[name]).toBeLessThanOrEqual(FIRST_WEIGHTS[name] * 1.3 + 1e-9);
      }
    }
  });

  it("stays as it was with too few observations, and leaves out impossible ones", () => {
    expect(nextCpuWeights(FIRST_WEIGHTS, DAYS.slice(0, 7))).toBe(FIRST_WEIGHTS);
    expect(nextCpuWeights(FIRST_WEIGHTS, DAYS.slice(0, 8))).not.toBe(FIRST_WEIGHTS);
    const idle = DAYS.slice(0, 8).map((day) => ({ ...day, milliCpu: 0 }));
    expect(nextCpuWeights(FIRST_WEIGHTS, idle).base).toBeCloseTo(FIRST_WEIGHTS.base * 0.7);
    const bad = [Number.NaN, -1, Number.POSITIVE_INFINITY].map((milliCpu) => ({ ...observe(1), milliCpu }));
    expect(nextCpuWeights(FIRST_WEIGHTS, [...DAYS.slice(0, 7), ...bad])).toBe(FIRST_WEIGHTS);
    expect(nextCpuWeights(FIRST_WEIGHTS, [...DAYS, ...bad])).toEqual(nextCpuWeights(FIRST_WEIGHTS, DAYS));
  });

  it("keeps the weight of a feature that no instance has", () => {
    const none = DAYS.map((day) => ({ ...day, resources: 0 }));
    expect(nextCpuWeights(FIRST_WEIGHTS, none).resource).toBe(FIRST_WEIGHTS.resource);
  });
});

describe("capacity that nobody declared", () => {
  it("follows memory and CPU", () => {
    expect(defaultCapacity({ controllerMiB: 4_096, milliCpu: 2_000 })).toEqual({
      applications: 4_000_000,
      clusterEntries: 37,
      cachedResources: 73_426,
      milliCpu: 2_000,
      gitPerMinute: 1_200_000,
    });
    expect(defaultCapacity({ controllerMiB: 1_024, milliCpu: 2_000 }).applications).toBe(1_102_000);
  });

  it("is zero without memory or CPU, and grows with both", () => {
    expect(defaultCapacity({ controllerMiB: 64, milliCpu: 0 })).toEqual(ZERO_LOAD);
    const [small, large] = [1_024, 8_192].map((controllerMiB) => defaultCapacity({ controllerMiB, milliCpu: 16_000 }));
    for (const dimension of LOAD_DIMENSIONS) expect(large?.[dimension] as number).toBeGreaterThanOrEqual(small?.[dimension] as number);
  });
});
