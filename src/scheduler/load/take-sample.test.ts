import { describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import type { EnvironmentId, UnitId } from "../../domain/ids.ts";
import { LOAD_DIMENSIONS, loadVector, ZERO_LOAD } from "../../domain/load.ts";
import { NOON } from "../testing/snapshots.ts";
import { FIRST_WEIGHTS } from "./cpu-weights.ts";
import { type CountedLoad, takeSample } from "./take-sample.ts";

const OTHERS = { reconciliations: {}, git: undefined };
const counted = (name: string, over: Partial<CountedLoad> = {}): CountedLoad => ({
  ...{ unitId: name as UnitId, epoch: 1, projects: [`ws-${name}`, `we-${name}`], repositories: {}, known: undefined },
  destinations: [{ isOwn: false, environments: [`e-${name}` as EnvironmentId], applications: 4, resources: 50 }],
  ...over,
});
const take = (units: readonly CountedLoad[], rates?: Parameters<typeof takeSample>[0]["rates"]) =>
  takeSample({ at: NOON, units, rates, environmentOf, weights: FIRST_WEIGHTS });
const environmentOf = (server: string) => (server === "https://shared" ? undefined : (`e-${server}` as EnvironmentId));

describe("a sample of an instance", () => {
  it("counts, deals CPU by what units do, and derives Git requests from applications", () => {
    const { units, total, observation } = take([counted("a"), counted("b")], {
      milliCpu: 205,
      requestsPerMinute: { "ws-a": 3000, "ws-b": 0, "ws-gone": 100 },
      ...{ reconcileMs: {}, ...OTHERS },
    });
    expect(total).toEqual({ applications: 8000, clusterEntries: 2, cachedResources: 100, milliCpu: 200, gitPerMinute: 4000 });
    expect(observation).toEqual({ milliCpu: 205, requests: 3100, resources: 100, applications: 8 });
    const [a, b] = units;
    expect(a?.load.recent.milliCpu).toBeGreaterThan(190);
    expect(b?.load.recent.milliCpu).toBeLessThan(10);
    expect(a?.whole).toMatchObject({ applications: 4000, clusterEntries: 1, cachedResources: 50, gitPerMinute: 2000 });
  });

  it("deals CPU by the servers through which it was taken", () => {
    const rates = { milliCpu: 205, requestsPerMinute: { "ws-a": 3000 }, reconcileMs: { a: 100, b: 200, "https://shared": 100 }, ...OTHERS };
    const { units, total } = take([counted("a"), counted("b")], rates);
    expect(units.map(({ load }) => load.recent.milliCpu)).toEqual([50, 100]);
    expect(total.milliCpu).toBe(150);
  });

  it("adds up servers of one entry, and deals comparisons by requests to Git", () => {
    const rates = {
      ...{ milliCpu: 105, requestsPerMinute: {}, reconcileMs: { "https://shared": 60, other: 40 } },
      reconciliations: { "https://shared": 50, other: 30 },
      git: { requests: { "https://git/a": 60, "https://git/b": 20 }, ms: {} },
    };
    const cpuThrough = (...environments: readonly EnvironmentId[]) => {
      const destination = { isOwn: environments.length === 0, environments, applications: 4, resources: 0 };
      const units = ["a", "b"].map((name) => counted(name, { destinations: [destination], repositories: { [`https://git/${name}`]: 4 } }));
      return takeSample({ at: NOON, units, rates, environmentOf: () => environments[0], weights: FIRST_WEIGHTS }).units.map(
        ({ load }) => load.recent.milliCpu,
      );
    };
    expect(cpuThrough()).toEqual([75, 25]);
    expect(cpuThrough("e" as EnvironmentId)).toEqual([75, 25]);
  });

  it("takes an unknown unit to have had the usual load of its applications five minutes ago", () => {
    const rates = { milliCpu: 5, requestsPerMinute: {}, reconcileMs: {}, ...OTHERS };
    const [unit] = take([counted("a")], rates).units;
    // Four applications take ten thousandths of a core, of which a mean over a day and one over ten minutes forget a part in five minutes.
    expect(unit?.load.planning.milliCpu).toBeCloseTo(10 * Math.exp(-5 / 1_440), 6);
    expect(unit?.load.recent.milliCpu).toBeCloseTo(10 * Math.exp(-1 / 2), 6);
    expect(unit).toMatchObject({ unitId: "a", epoch: 1, whole: { milliCpu: 10, gitPerMinute: 2_000 } });
  });

  it("leaves CPU as it was if the page did not have it", () => {
    const known = { planning: loadVector(() => 70), recent: loadVector(() => 90), at: millis(NOON - 60_000) };
    const { units, total, observation } = take([counted("a", { known })]);
    expect(units[0]?.load).toMatchObject({ planning: { milliCpu: 70, applications: 4000 }, recent: { milliCpu: 90 }, at: NOON });
    expect(total.milliCpu).toBe(70);
    expect(observation).toBeUndefined();
  });

  it.each([Number.NaN, -5, 0, Number.POSITIVE_INFINITY, 1e15])("of CPU %s makes no impossible load", (milliCpu) => {
    const { units, total } = take([counted("a")], {
      milliCpu,
      requestsPerMinute: { "ws-a": milliCpu },
      reconcileMs: { a: milliCpu },
      ...OTHERS,
    });
    for (const dimension of LOAD_DIMENSIONS) {
      for (const load of [units[0]?.whole, total])
        expect(Number.isSafeInteger(load?.[dimension]) && (load?.[dimension] ?? -1) >= 0).toBe(true);
    }
  });

  it("of an instance without units is empty", () => {
    expect(take([], { milliCpu: 20, requestsPerMinute: {}, reconcileMs: { "https://shared": 10 }, ...OTHERS })).toMatchObject({
      units: [],
      total: ZERO_LOAD,
    });
  });
});
