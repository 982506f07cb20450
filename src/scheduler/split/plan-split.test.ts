import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bucketKeys } from "../../domain/bucket.ts";
import { millis } from "../../domain/clock.ts";
import type { UnitId } from "../../domain/ids.ts";
import { loadVector, ZERO_LOAD } from "../../domain/load.ts";
import { complete } from "../../domain/resumable.ts";
import { reviewDecision } from "../review.ts";
import { aRow, aUnitRow } from "../testing/facts.ts";
import { NOON } from "../testing/snapshots.ts";
import { differsFromRecorded, largestUnit, planSplit, type SplitCapacity, type Splitting, splitCapacityInTurns } from "./plan-split.ts";
import { splitDecision } from "./split-decision.ts";

const DAY_MS = 86_400_000;
/** A unit may have a quarter of it: 100 applications. */
const AMPLE: SplitCapacity = { now: NOON, target: { ...ZERO_LOAD, applications: 400_000 }, candidates: 10 };

/** A number of applications in each of a number of environments, all in one part. */
function aSplitting(environments: number, each: number, over: Partial<Splitting> = {}): Splitting {
  const names = Array.from({ length: environments }, (_, index) => `e${String(index).padStart(2, "0")}`);
  const applications = names.flatMap((environment) =>
    Array.from({ length: each }, (_, index) => ({
      ...{ part: 0, name: `${environment}-${index}`, environment, namespace: `n${index}`, resources: undefined, hasClusterScoped: false },
    })),
  );
  const load = { ...ZERO_LOAD, applications: applications.length * 1_000 };
  return {
    ...{ parts: 1, openPart: 0, roomySince: undefined, deal: {}, applications },
    units: [{ part: 0, isPlaced: false, load }],
    ...over,
  };
}

/** The workspace once a plan was carried out: parts that were placed keep what they have. */
function afterwards(before: Splitting, plan: NonNullable<ReturnType<typeof planSplit>>, isPlaced: boolean): Splitting {
  const applications = before.applications.map((application) => {
    const key = bucketKeys(application, application.name).find((each) => plan.deal[each] !== undefined) ?? "";
    return { ...application, part: plan.deal[key] ?? 0 };
  });
  const units = Array.from({ length: plan.parts }, (_, part) => {
    const count = applications.filter((each) => each.part === part).length;
    return { part, isPlaced, load: { ...ZERO_LOAD, applications: count * 1_000 } };
  });
  return { ...plan, applications, units };
}

describe("a workspace that is too large for one unit", () => {
  it("stays one unit while it takes no more than a quarter of what the smallest instance should carry", () => {
    expect(planSplit(aSplitting(10, 10), AMPLE)).toBeUndefined();
  });

  it("is split evenly by environment before anything of it was placed", () => {
    const plan = planSplit(aSplitting(40, 10), AMPLE);
    expect(plan).toMatchObject({ parts: 4, roomySince: undefined, held: [] });
    const counts = [0, 1, 2, 3].map((part) => Object.values(plan?.deal ?? {}).filter((each) => each === part).length);
    expect(counts.reduce((a, b) => a + b, 0)).toBe(40);
    expect(Math.max(...counts)).toBeLessThanOrEqual(11);
    expect(Object.keys(plan?.deal ?? {})).toContain("cluster e00");
  });

  it("is split by groups of namespaces if one environment alone is too large", () => {
    const plan = planSplit(aSplitting(1, 300), AMPLE);
    expect(plan?.parts).toBe(3);
    expect(Object.keys(plan?.deal ?? {}).every((key) => key.startsWith("cluster e00 group "))).toBe(true);
  });

  it("keeps what was placed where it is, and says so; what comes goes to a new part", () => {
    const placed = aSplitting(40, 10);
    const plan = planSplit({ ...placed, units: placed.units.map((unit) => ({ ...unit, isPlaced: true })) }, AMPLE);
    expect(plan?.parts).toBe(4);
    expect(new Set(Object.values(plan?.deal ?? {}))).toEqual(new Set([0]));
    expect(plan?.held.length).toBeGreaterThan(20);
    expect(plan?.openPart).toBe(1);
  });

  it("has no more parts than there are instances, or buckets", () => {
    expect(planSplit(aSplitting(40, 10), { ...AMPLE, candidates: 3 })?.parts).toBe(3);
    expect(planSplit(aSplitting(2, 60), { ...AMPLE, candidates: 1 })).toBeUndefined();
    const own = aSplitting(1, 300);
    const one = { ...own, applications: own.applications.map((application) => ({ ...application, namespace: "" })) };
    expect(planSplit(one, AMPLE)).toBeUndefined();
  });

  it("opens another part once the open one is fuller than the mean", () => {
    const before = aSplitting(40, 10);
    const split = afterwards(before, planSplit(before, AMPLE) as NonNullable<ReturnType<typeof planSplit>>, true);
    const more = Array.from({ length: 30 }, (_, index) => ({
      ...{
        part: split.openPart,
        name: `new-${index}`,
        environment: `new${index}`,
        namespace: "",
        resources: undefined,
        hasClusterScoped: false,
      },
    }));
    const grown = { ...split, applications: [...split.applications, ...more] };
    const plan = planSplit(grown, AMPLE);
    expect(plan?.openPart).not.toBe(split.openPart);
    expect(plan?.deal["cluster new0"]).toBe(split.openPart);
  });

  it("is a change once, and not again while nothing changes", () => {
    for (const isPlaced of [false, true]) {
      const before = aSplitting(40, 10);
      const plan = planSplit(before, AMPLE) as NonNullable<ReturnType<typeof planSplit>>;
      expect(differsFromRecorded(plan, before)).toBe(true);
      const split = afterwards(before, plan, isPlaced);
      const again = planSplit(split, AMPLE) as typeof plan;
      expect(differsFromRecorded(again, split)).toBe(false);
      expect(again.held).toEqual([]);
      expect(differsFromRecorded({ ...again, openPart: 7 }, split)).toBe(true);
      expect(differsFromRecorded({ ...again, roomySince: NOON }, split)).toBe(true);
      expect(differsFromRecorded({ ...again, deal: { ...again.deal, "cluster e00": 9 } }, split)).toBe(true);
      expect(differsFromRecorded({ ...again, deal: { ...again.deal, more: 1 } }, split)).toBe(true);
    }
  });

  it("is not the same plan with another number of parts, or another set of buckets", () => {
    const before = aSplitting(40, 10);
    const plan = planSplit(before, AMPLE) as NonNullable<ReturnType<typeof planSplit>>;
    const split = afterwards(before, plan, true);
    expect(differsFromRecorded({ ...plan, parts: plan.parts + 1 }, split)).toBe(true);
    const { "cluster e00": gone, ...rest } = plan.deal;
    expect(differsFromRecorded({ ...plan, deal: rest }, split)).toBe(true);
    expect(differsFromRecorded({ ...plan, deal: { ...rest, more: gone as number } }, split)).toBe(true);
  });

  it("is split by the resources of each application, or by its share of all if they are not known", () => {
    const capacity = { ...AMPLE, target: { ...ZERO_LOAD, cachedResources: 400 } };
    const holding = (resources: (environment: string) => number | undefined) => {
      const whole = aSplitting(2, 10);
      const applications = whole.applications.map((each) => ({ ...each, resources: resources(each.environment) }));
      const units = [{ part: 0, isPlaced: false, load: { ...ZERO_LOAD, cachedResources: 300 } }];
      const keys = Object.keys(planSplit({ ...whole, applications, units }, capacity)?.deal ?? {});
      return ["e00", "e01"].map((name) => keys.includes(`cluster ${name}`));
    };
    expect(holding((environment) => (environment === "e00" ? 30 : 0))).toEqual([false, true]);
    expect(holding((environment) => (environment === "e00" ? 0 : 30))).toEqual([true, false]);
    expect(holding(() => undefined)).toEqual([false, false]);
    expect(holding(() => 9)).toEqual([true, true]);
    const units = [{ part: 0, isPlaced: false, load: { ...ZERO_LOAD, cachedResources: 150 } }];
    expect(Object.keys(planSplit({ ...aSplitting(2, 10), units }, capacity)?.deal ?? {})).toEqual(["cluster e00", "cluster e01"]);
  });

  it("holds nothing up while it has as many parts as before, whatever grows", () => {
    const before = aSplitting(40, 10);
    const split = afterwards(before, planSplit(before, AMPLE) as NonNullable<ReturnType<typeof planSplit>>, true);
    const more = split.applications.filter(({ environment }) => environment < "e03");
    const grown = { ...split, applications: [...split.applications, ...more, ...more] };
    expect(planSplit(grown, AMPLE)).toMatchObject({ parts: 4, held: [], deal: split.deal });
  });

  it("counts the whole load of all applications, rounding each one's share up", () => {
    const whole = aSplitting(2, 3);
    const units = [{ part: 0, isPlaced: false, load: { ...ZERO_LOAD, milliCpu: 5 } }];
    const plan = planSplit({ ...whole, units }, { ...AMPLE, target: { ...ZERO_LOAD, milliCpu: 8 } });
    expect(Object.keys(plan?.deal ?? {}).every((key) => key.includes(" group "))).toBe(true);
    expect(planSplit({ ...whole, applications: [], units }, AMPLE)).toBeUndefined();
  });

  it("has a bucket without a part where most of its applications are, in the first part among equals", () => {
    const placed = (...parts: readonly number[]): Splitting => ({
      ...{ parts: 2, openPart: 0, roomySince: undefined, deal: {} },
      applications: parts.map((part) => ({
        part,
        name: "a",
        environment: "e",
        namespace: "n",
        resources: undefined,
        hasClusterScoped: false,
      })),
      units: [0, 1].map((part) => ({ part, isPlaced: true, load: { ...ZERO_LOAD, applications: 60_000 } })),
    });
    const dealt = (...parts: readonly number[]) => planSplit(placed(...parts), AMPLE)?.deal["cluster e"];
    expect([dealt(0, 1, 1), dealt(1, 0, 0), dealt(1, 1, 0), dealt(0, 0, 1)]).toEqual([1, 0, 1, 0]);
    expect([dealt(1, 0), dealt(0, 1)]).toEqual([0, 0]);
  });

  it("leaves the open part open up to a twentieth above the mean, and opens the lightest then", () => {
    const open = (openPart: number, ...counts: readonly number[]) => {
      const applications = counts.flatMap((count, part) =>
        Array.from({ length: count }, (_, index) => ({
          ...{ part, name: `a${index}`, environment: `e${part}-${index}`, namespace: "n", resources: undefined, hasClusterScoped: false },
        })),
      );
      const deal = Object.fromEntries(applications.map(({ environment, part }) => [`cluster ${environment}`, part]));
      const units = counts.map((count, part) => ({ part, isPlaced: true, load: { ...ZERO_LOAD, applications: count * 1_000 } }));
      return planSplit({ parts: counts.length, openPart, roomySince: undefined, deal, applications, units }, AMPLE)?.openPart;
    };
    expect(open(0, 42, 38)).toBe(0);
    expect(open(0, 43, 37)).toBe(1);
    expect(open(1, 30, 44, 25)).toBe(2);
    expect(open(2, 40, 39)).toBe(1);
  });

  it("loses one part at a time, after fewer would have done for a week with room to spare, unless the part was placed", () => {
    const before = aSplitting(40, 10);
    const split = afterwards(before, planSplit(before, AMPLE) as NonNullable<ReturnType<typeof planSplit>>, false);
    const small = { ...split, units: split.units.map((unit) => ({ ...unit, load: { ...ZERO_LOAD, applications: 10_000 } })) };
    const first = planSplit(small, AMPLE);
    expect(first).toMatchObject({ parts: 4, roomySince: NOON });
    const week = { ...AMPLE, now: millis(NOON + 7 * DAY_MS) };
    const merged = planSplit({ ...small, roomySince: NOON }, week);
    expect(merged).toMatchObject({ parts: 3, roomySince: undefined, held: [] });
    expect(Math.max(...Object.values(merged?.deal ?? {}))).toBe(2);
    const placed = { ...small, roomySince: NOON, units: small.units.map((unit) => ({ ...unit, isPlaced: true })) };
    expect(planSplit(placed, week)).toMatchObject({ parts: 4, roomySince: NOON, deal: small.deal });
  });

  it("gives every bucket an existing part, and never moves what was placed, whatever its shape", () => {
    const shape = fc.record({
      environments: fc.integer({ min: 1, max: 12 }),
      each: fc.integer({ min: 1, max: 60 }),
      parts: fc.integer({ min: 1, max: 5 }),
      placed: fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }),
      candidates: fc.integer({ min: 1, max: 6 }),
    });
    fc.assert(
      fc.property(shape, ({ environments, each, parts, placed, candidates }) => {
        const whole = aSplitting(environments, each);
        const deal = Object.fromEntries(
          Array.from({ length: environments }, (_, index) => [`cluster e${String(index).padStart(2, "0")}`, index % parts]),
        );
        const applications = whole.applications.map((row) => ({ ...row, part: deal[`cluster ${row.environment}`] ?? 0 }));
        const units = Array.from({ length: parts }, (_, part) => ({
          part,
          isPlaced: placed[part] === true,
          load: { ...ZERO_LOAD, applications: applications.filter((row) => row.part === part).length * 1_000 },
        }));
        const before = { ...whole, parts, deal, applications, units };
        const plan = planSplit(before, { ...AMPLE, candidates });
        if (plan === undefined) return void expect(parts).toBe(1);
        expect(Object.values(plan.deal).every((part) => part >= 0 && part < plan.parts)).toBe(true);
        expect(plan.openPart).toBeLessThan(plan.parts);
        for (const [key, part] of Object.entries(deal))
          if (placed[part] === true && plan.deal[key] !== undefined) expect(plan.deal[key]).toBe(part);
        for (const { part, isPlaced } of units) if (isPlaced) expect(part).toBeLessThan(plan.parts);
      }),
    );
  });
});

describe("the journal of splitting", () => {
  const subject = "u-1" as UnitId;

  it("has an entry when the number of parts changes, from which that number follows again (P5)", () => {
    const before = aSplitting(40, 10);
    const plan = planSplit(before, { ...AMPLE, candidates: 3 }) as NonNullable<ReturnType<typeof planSplit>>;
    const load = before.units[0]?.load ?? ZERO_LOAD;
    const decision = splitDecision({ subject, before, plan, load, capacity: { ...AMPLE, candidates: 3 } });
    expect(decision).toMatchObject({
      subject,
      verdict: "SPLIT",
      rule: "LARGEST_UNIT",
      details: { before: 1, after: 3, most: 3, fewest: 1 },
    });
    const stored = JSON.parse(JSON.stringify(decision)) as NonNullable<typeof decision>;
    expect(reviewDecision(stored)).toBe(true);
    expect(reviewDecision({ ...stored, details: { ...stored.details, after: 4 } })).toBe(false);
    expect(reviewDecision({ ...stored, verdict: "MERGED" })).toBe(false);
    const split = afterwards(before, plan, false);
    expect(splitDecision({ subject, before: split, plan, load, capacity: AMPLE })).toBeUndefined();
  });

  it("says that parts were merged", () => {
    const before = aSplitting(40, 10);
    const split = afterwards(before, planSplit(before, AMPLE) as NonNullable<ReturnType<typeof planSplit>>, false);
    const load = { ...ZERO_LOAD, applications: 40_000 };
    const roomy = { ...split, roomySince: NOON, units: [{ part: 0, isPlaced: false, load }] };
    const capacity = { ...AMPLE, now: millis(NOON + 8 * DAY_MS) };
    const plan = planSplit(roomy, capacity) as NonNullable<ReturnType<typeof planSplit>>;
    const decision = splitDecision({ subject, before: roomy, plan, load, capacity });
    expect(decision).toMatchObject({ verdict: "MERGED", rule: "SLACK", details: { before: 4, after: 3 } });
    expect(reviewDecision(JSON.parse(JSON.stringify(decision)) as NonNullable<typeof decision>)).toBe(true);
  });
});

describe("what a class offers to parts", () => {
  const small = aRow("a", { capacity: { ...loadVector(() => 1_000), milliCpu: 0 } });
  const large = aRow("b", { capacity: loadVector(() => 4_000) });

  const splitCapacity = (...asked: Parameters<typeof splitCapacityInTurns>) => complete(splitCapacityInTurns(...asked));

  it("is what the smallest ACTIVE instance should carry: the mean, but at least 60 %", () => {
    expect(splitCapacity({ instances: [small, large], units: [] }, NOON)).toEqual({
      ...{ now: NOON, target: { ...loadVector(() => 600), milliCpu: 0 }, candidates: 2 },
    });
    expect(splitCapacity({ instances: [small, large], units: [aUnitRow("u", "b", 4_000)] }, NOON)?.target.applications).toBe(800);
    expect(splitCapacity({ instances: [small], units: [aUnitRow("u", "b", 4_000)] }, NOON)?.target.applications).toBe(900);
    expect(splitCapacity({ instances: [large, { ...small, state: "DRAINING" }], units: [] }, NOON)).toMatchObject({ candidates: 1 });
    expect(splitCapacity({ instances: [{ ...large, state: "CORDONED" }], units: [] }, NOON)).toBeUndefined();
  });

  it("lets a unit have a quarter of that, and any load if there is no capacity to compare with", () => {
    const capacity = splitCapacity({ instances: [small, large], units: [] }, NOON) as SplitCapacity;
    expect(largestUnit(capacity)).toEqual({ ...loadVector(() => 150), milliCpu: Number.MAX_SAFE_INTEGER });
  });
});
