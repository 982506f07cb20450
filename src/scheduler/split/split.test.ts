import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import { LOAD_DIMENSIONS, ZERO_LOAD } from "../../domain/load.ts";
import { apps, NOON } from "../testing/snapshots.ts";
import { type Bucket, bucketsOf, DEFAULT_SPLIT_POLICY, partsFor, type SplitApplication } from "./buckets.ts";
import { dealBuckets } from "./deal-buckets.ts";
import { nextParts } from "./next-parts.ts";

const TARGET = apps(400);
const app = (cluster: string, member: string, load: number, hasClusterScoped = false): SplitApplication => ({
  cluster,
  member,
  hasClusterScoped,
  load: apps(load),
});
const sum = (buckets: readonly Bucket[]) => buckets.reduce((total, { load }) => total + load.applications, 0);

describe("splitting a workspace into buckets", () => {
  it("keeps clusters whole that are no larger than a unit may be", () => {
    const buckets = bucketsOf([app("c2", "x", 60), app("c1", "x", 50), app("c1", "y", 50)], TARGET);
    expect(buckets).toEqual([
      { key: "cluster c1", cluster: "c1", load: apps(100) },
      { key: "cluster c2", cluster: "c2", load: apps(60) },
    ]);
  });

  it("splits a larger cluster into groups of namespaces, each namespace whole, with all that is cluster-scoped in one group", () => {
    const held = Array.from({ length: 60 }, (_, index) => app("c1", `n${index % 30}`, 6, index % 20 === 0));
    const buckets = bucketsOf(held, TARGET);
    expect(buckets.length).toBeGreaterThan(8);
    expect(buckets.length).toBeLessThanOrEqual(16);
    expect(sum(buckets)).toBe(360);
    expect(buckets.every(({ key }) => /^cluster c1 group \d+$/.test(key))).toBe(true);
    expect(bucketsOf([...held].reverse(), TARGET)).toEqual(buckets);
    const scoped = held.map((each) => ({ ...each, hasClusterScoped: true }));
    expect(bucketsOf(scoped, TARGET).map(({ key }) => key)).toEqual(["cluster c1 group 0"]);
  });

  it("keeps each namespace in its group whatever else comes and goes, and deals a huge cluster to more groups", () => {
    const held = Array.from({ length: 60 }, (_, index) => app("c1", `n${index}`, 10));
    const keyOf = (applications: readonly SplitApplication[], namespace: string) => {
      const without = new Map(
        bucketsOf(
          applications.filter((each) => each.member !== namespace),
          TARGET,
        ).map(({ key, load }) => [key, load.applications]),
      );
      return bucketsOf(applications, TARGET).find(({ key, load }) => load.applications !== without.get(key))?.key;
    };
    expect(keyOf(held, "n7")).toBe(keyOf([...held.slice(0, 40), app("c1", "new", 99)], "n7"));
    expect(
      bucketsOf(
        held.map((each) => ({ ...each, load: apps(100) })),
        TARGET,
      ).length,
    ).toBeGreaterThan(20);
  });

  it("asks for as many parts as its largest dimension needs", () => {
    expect([0, 100, 101, 400, 401].map((load) => partsFor(apps(load), TARGET, DEFAULT_SPLIT_POLICY))).toEqual([1, 1, 2, 4, 5]);
    expect(partsFor({ ...apps(100), milliCpu: 30 }, { ...TARGET, milliCpu: 40 }, DEFAULT_SPLIT_POLICY)).toBe(3);
    expect(partsFor(apps(500), ZERO_LOAD, DEFAULT_SPLIT_POLICY)).toBe(1);
  });
});

const anyBuckets = fc
  .array(fc.record({ size: fc.integer({ min: 1, max: 100 }) }), { minLength: 1, maxLength: 64 })
  .map((all) => all.map(({ size }, index): Bucket => ({ key: `cluster c${index}`, cluster: `c${index}`, load: apps(size) })));
const weights = (buckets: readonly Bucket[], deal: ReadonlyMap<string, number>, parts: number) =>
  Array.from({ length: parts }, (_, part) => sum(buckets.filter(({ key }) => deal.get(key) === part)));

describe("dealing buckets to parts", () => {
  it("gives every bucket a part, the same whatever order they come in", () => {
    fc.assert(
      fc.property(anyBuckets, fc.integer({ min: 1, max: 8 }), (buckets, parts) => {
        const deal = dealBuckets(buckets, parts);
        for (const { key } of buckets) expect(deal.get(key)).toBeLessThan(parts);
        expect(dealBuckets([...buckets].reverse(), parts)).toEqual(deal);
      }),
    );
  });

  it("leaves every bucket where it is while the number of parts stays", () => {
    fc.assert(
      fc.property(anyBuckets, fc.integer({ min: 1, max: 8 }), fc.nat({ max: 60 }), (buckets, parts, extra) => {
        const before = dealBuckets(buckets, parts);
        const more = [...buckets, { key: "cluster new", cluster: "new", load: apps(extra) }].map((bucket) => ({
          ...bucket,
          load: apps(bucket.load.applications * 2),
        }));
        const after = dealBuckets(more, parts, before);
        // A part that never had a bucket is filled; that is all that moves.
        const used = new Set(before.values()).size;
        if (used === parts) for (const { key } of buckets) expect(after.get(key)).toBe(before.get(key));
      }),
    );
  });

  it("is even to within 1.05 × the mean and one bucket", () => {
    fc.assert(
      fc.property(anyBuckets, fc.integer({ min: 1, max: 8 }), (buckets, parts) => {
        const heaviest = Math.max(...weights(buckets, dealBuckets(buckets, parts), parts));
        const largest = Math.max(...buckets.map(({ load }) => load.applications));
        expect(heaviest).toBeLessThanOrEqual(Math.max((1.05 * sum(buckets)) / parts, sum(buckets) / parts + largest) + 1);
      }),
    );
  });

  it("moves buckets to a new part only, and no more than its share", () => {
    fc.assert(
      fc.property(anyBuckets, fc.integer({ min: 1, max: 7 }), (buckets, parts) => {
        const before = dealBuckets(buckets, parts);
        if (new Set(before.values()).size < parts) return;
        const after = dealBuckets(buckets, parts + 1, before);
        const moved = buckets.filter(({ key }) => after.get(key) !== before.get(key));
        for (const { key } of moved) expect(after.get(key)).toBe(parts);
        expect(sum(moved)).toBeLessThanOrEqual((1.06 * sum(buckets)) / (parts + 1) + 1);
      }),
    );
  });

  it("moves only what was in the part that is given up", () => {
    fc.assert(
      fc.property(anyBuckets, fc.integer({ min: 2, max: 8 }), (buckets, parts) => {
        const before = dealBuckets(buckets, parts);
        const after = dealBuckets(buckets, parts - 1, before);
        if (new Set([...before.values()].filter((part) => part < parts - 1)).size < parts - 1) return;
        for (const { key } of buckets) if (before.get(key) !== parts - 1) expect(after.get(key)).toBe(before.get(key));
      }),
    );
  });

  const sized = (...loads: readonly number[]) => loads.map((load): Bucket => ({ key: `k${load}`, cluster: "c", load: apps(load) }));
  const dealt = (loads: readonly number[], parts: number, known: Readonly<Record<string, number>> = {}) =>
    Object.fromEntries(dealBuckets(sized(...loads), parts, new Map(Object.entries(known))));

  it("gives a bucket that would make every part uneven to the lightest", () => {
    expect(dealt([60, 50], 2)).toEqual({ k60: 0, k50: 1 });
    expect(dealt([90, 6, 4], 2)).toEqual({ k90: 0, k6: 1, k4: 1 });
    expect(dealt([80, 70, 60], 3)).toMatchObject({ k80: 0 });
  });

  it("fills a new part from the heaviest with the largest bucket that neither overfills it nor takes too much from the giver", () => {
    const known = { k40: 0, k30: 0, k20: 0, k10: 1 };
    expect(dealt([40, 30, 20, 10], 3, known)).toEqual({ ...known, k30: 2 });
    // A third is 333: 350 is too much, and what is left of 480 without 170 is too little.
    expect(dealt([351, 129, 170, 350], 3, { k351: 0, k129: 0, k170: 1, k350: 1 })).toEqual({ k351: 0, k129: 2, k170: 2, k350: 1 });
    expect(dealt([100], 2, { k100: 0 })).toEqual({ k100: 0 });
  });

  it("deals buckets anew whose part does not exist any more, or that never had one", () => {
    const { k30, ...others } = dealt([50, 30, 20], 2, { k50: 0, k20: 1, k30: 2 });
    expect([k30, others]).toEqual([1, { k50: 0, k20: 1 }]);
    expect(dealt([50, 40, 5], 2, { k50: 0, k40: 1 })).toMatchObject({ k50: 0, k40: 1 });
  });

  it("deals nothing to nobody", () => {
    expect(dealBuckets([], 4)).toEqual(new Map());
    for (const load of LOAD_DIMENSIONS)
      expect(dealBuckets([{ key: "k", cluster: "c", load: { ...ZERO_LOAD, [load]: 1 } }], 1).get("k")).toBe(0);
  });
});

describe("how many parts", () => {
  const DAY = 24 * 3_600_000;
  const ask = (load: number, parts: number, roomySince?: number, now = NOON) =>
    nextParts(
      { parts, roomySince: roomySince === undefined ? undefined : millis(roomySince) },
      { now: millis(now), load: apps(load), target: TARGET },
    );

  it("is more as soon as a unit would be too large", () => {
    expect(ask(100, 1)).toEqual({ parts: 1 });
    expect(ask(101, 1)).toEqual({ parts: 2 });
    expect(ask(900, 2)).toEqual({ parts: 9 });
  });

  it("is one fewer when fewer have been enough for seven days, with 40 % to spare", () => {
    expect(ask(180, 4)).toEqual({ parts: 4, roomySince: NOON });
    expect(ask(180, 4, NOON - 7 * DAY + 1)).toEqual({ parts: 4, roomySince: NOON - 7 * DAY + 1 });
    expect(ask(180, 4, NOON - 7 * DAY)).toEqual({ parts: 3 });
    expect(ask(181, 4, NOON - 7 * DAY)).toEqual({ parts: 4 });
    expect(ask(1, 1, NOON - 7 * DAY)).toEqual({ parts: 1 });
  });
});
