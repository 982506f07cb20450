import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import type { InstanceId } from "../../domain/ids.ts";
import type { InstanceState } from "../../domain/instance.ts";
import { type LoadVector, loadVector, ZERO_LOAD } from "../../domain/load.ts";
import { planSize, type ScaledPool, type SizedInstance, type SizeFacts } from "./plan-size.ts";

const HOUR_MS = 3_600_000;
const [SPARE_MS, REST_MS] = [6 * HOUR_MS, 12 * HOUR_MS];
const CAPACITY = loadVector(() => 1_000);
const POOL = { name: "standard", min: 1, max: 10, capacity: CAPACITY };
const cpu = (milliCpu: number): LoadVector => ({ ...ZERO_LOAD, milliCpu });
const one = (index: number, over: Partial<SizedInstance> = {}): SizedInstance => ({
  ...{
    id: `i-${index}` as InstanceId,
    name: `standard-${index}`,
    pool: "standard",
    state: "ACTIVE",
    capacity: CAPACITY,
    share: 500_000 + index,
  },
  ...over,
});
const many = (count: number): readonly SizedInstance[] => Array.from({ length: count }, (_, index) => one(index));
const NOW = millis(1_000 * HOUR_MS);
const facts = (over: Partial<SizeFacts> & { readonly load?: number }): SizeFacts => ({
  ...{ pools: [POOL], instances: many(4), sizes: {}, spareSince: undefined, isFrozen: false, spareMs: SPARE_MS, restMs: REST_MS, at: NOW },
  ...{ soon: cpu(over.load ?? 2_000), later: cpu(over.load ?? 2_000) },
  ...over,
});
const spare = { spareSince: millis(NOW - SPARE_MS) };

describe("a class that will be too full", () => {
  it("gets as many more as are needed, at once", () => {
    expect(planSize(facts({ load: 2_700 }))).toMatchObject({ kind: "keep" });
    expect(planSize(facts({ load: 3_001 }))).toMatchObject({
      kind: "grow",
      pool: "standard",
      before: 4,
      after: 5,
      evidence: { dimension: "milliCpu", soon: 750_250 },
    });
    expect(planSize(facts({ load: 6_000 }))).toMatchObject({ kind: "grow", after: 8 });
  });

  it("gets more where the others could not hold everything if one failed", () => {
    expect(planSize(facts({ instances: many(2), load: 1_000 }))).toMatchObject({
      kind: "grow",
      after: 3,
      evidence: { soon: 500_000, withoutOne: 1_000_000 },
    });
    expect(planSize(facts({ instances: many(1), load: 1 }))).toMatchObject({ kind: "grow", after: 2 });
    const large = one(9, { capacity: loadVector(() => 4_000) });
    expect(planSize(facts({ instances: [...many(2), large], load: 2_000 }))).toMatchObject({ kind: "grow", before: 3 });
  });

  it("counts what is being made, and asks for no more of what fails", () => {
    const made = one(4, { state: "CREATING" });
    expect(planSize(facts({ instances: [...many(4), made], load: 3_200 }))).toMatchObject({ kind: "keep" });
    const failed = one(4, { state: "FAILED" });
    expect(planSize(facts({ instances: [...many(4), failed], load: 3_001 }))).toMatchObject({ kind: "keep", why: "FAILING" });
    const second = { ...POOL, name: "second" };
    expect(planSize(facts({ pools: [POOL, second], instances: [...many(4), failed], load: 3_001 }))).toMatchObject({
      kind: "grow",
      pool: "second",
    });
  });

  it("does not count an instance that leaves", () => {
    expect(planSize(facts({ instances: [...many(4), one(4, { state: "DRAINING" })], load: 3_001 }))).toMatchObject({ before: 4, after: 5 });
  });

  it("grows by the next pool where the first may have no more, and says so where none may", () => {
    const full = { ...POOL, max: 4 };
    const second = { ...POOL, name: "second", max: 2 };
    expect(planSize(facts({ pools: [full, second], load: 9_000 }))).toMatchObject({ kind: "grow", pool: "second", before: 0, after: 2 });
    expect(planSize(facts({ pools: [full], load: 9_000 }))).toMatchObject({ kind: "keep", why: "CEILING" });
    expect(planSize(facts({ pools: [{ ...POOL, max: 5 }], load: 9_000 }))).toMatchObject({ kind: "grow", after: 5 });
  });
});

describe("a class that does with one fewer", () => {
  it("gives up the emptiest, after that was so for six hours", () => {
    expect(planSize(facts({ load: 1_500 }))).toMatchObject({ kind: "keep", spareSince: NOW });
    const tried = (since: number) => planSize(facts({ load: 1_500, spareSince: millis(since) }));
    expect(tried(NOW - SPARE_MS + 1)).toMatchObject({ kind: "keep", spareSince: NOW - SPARE_MS + 1 });
    expect(tried(NOW - SPARE_MS)).toMatchObject({ kind: "shrink", instance: "i-0", before: 4, after: 3 });
  });

  it("keeps it where the day to come needs it, or the others could not hold everything if one failed", () => {
    expect(planSize(facts({ soon: cpu(1_500), later: cpu(1_951), ...spare }))).toMatchObject({ kind: "keep", spareSince: undefined });
    expect(planSize(facts({ instances: many(3), load: 801, ...spare }))).toMatchObject({ kind: "keep", spareSince: undefined });
    expect(planSize(facts({ instances: many(3), load: 800, ...spare }))).toMatchObject({ kind: "shrink" });
  });

  it.each([
    ["a freeze holds", { isFrozen: true }],
    ["the last change is no twelve hours ago", { sizes: { standard: { instances: 4, at: millis(NOW - REST_MS + 1), reason: "" } } }],
    ["one leaves already", { instances: [...many(4), one(4, { state: "DRAINING" as InstanceState })] }],
    ["one is being made", { instances: [...many(4), one(4, { state: "WARMING" as InstanceState })] }],
  ])("waits while %s", (_what, over) => {
    expect(planSize(facts({ load: 1_500, ...spare, ...over }))).toMatchObject({ kind: "keep" });
  });

  it("has never fewer than declared, and never none", () => {
    expect(planSize(facts({ pools: [{ ...POOL, min: 4 }], load: 0, ...spare }))).toMatchObject({ kind: "keep", spareSince: undefined });
    expect(planSize(facts({ pools: [{ ...POOL, min: 0 }], instances: many(1), load: 0, ...spare }))).toMatchObject({ kind: "keep" });
  });

  it("leaves pools alone whose size is declared, and instances that somebody cordoned", () => {
    expect(planSize(facts({ pools: [{ ...POOL, name: "other" }], load: 0, ...spare }))).toMatchObject({
      kind: "keep",
      spareSince: undefined,
    });
    const cordoned = many(4).map((each, index) => (index === 0 ? { ...each, state: "CORDONED" as InstanceState } : each));
    expect(planSize(facts({ instances: cordoned, load: 1_500, ...spare }))).toMatchObject({ kind: "shrink", instance: "i-1" });
  });
});

describe("a declared peak", () => {
  const asking = (soon: number, later = soon, over: object = {}) => ({ ...POOL, peak: { soon, later }, ...over });

  it("has what it asks for made whatever the load is, within the bounds of the pool", () => {
    expect(planSize(facts({ pools: [asking(6)], load: 0 }))).toMatchObject({ kind: "grow", before: 4, after: 6, isForPeak: true });
    expect(planSize(facts({ pools: [asking(60)], load: 0 }))).toMatchObject({ kind: "grow", after: 10 });
    expect(planSize(facts({ pools: [asking(4)], load: 2_000 }))).toMatchObject({ kind: "keep" });
    expect(planSize(facts({ pools: [asking(0, 6)], load: 2_000 }))).toMatchObject({ kind: "keep" });
  });

  it("does not keep a pool from having more than it asks for", () => {
    expect(planSize(facts({ pools: [asking(6)], load: 6_000 }))).toMatchObject({ kind: "grow", after: 8, isForPeak: false });
    expect(planSize(facts({ pools: [asking(9)], load: 6_000 }))).toMatchObject({ kind: "grow", after: 9, isForPeak: true });
    const other = { ...asking(3), name: "other" };
    expect(planSize(facts({ pools: [POOL, other], load: 6_000 }))).toMatchObject({ kind: "grow", pool: "standard", after: 8 });
    expect(planSize(facts({ pools: [POOL, other], load: 2_000 }))).toMatchObject({ kind: "grow", pool: "other", before: 0, after: 3 });
    const full = { ...POOL, max: 4 };
    expect(
      planSize(facts({ pools: [full, other], instances: [...many(4), one(9, { pool: "other", state: "FAILED" })], load: 9_000 })),
    ).toMatchObject({
      kind: "keep",
      why: "FAILING",
    });
  });

  it("keeps instances while it holds, and for two days before it begins", () => {
    expect(planSize(facts({ pools: [asking(0, 4)], load: 1_500, ...spare }))).toMatchObject({ kind: "keep", spareSince: undefined });
    expect(planSize(facts({ pools: [asking(4)], load: 1_500, ...spare }))).toMatchObject({ kind: "keep", spareSince: undefined });
    expect(planSize(facts({ pools: [asking(0, 3)], load: 1_500, ...spare }))).toMatchObject({ kind: "shrink", after: 3 });
  });

  it("gets no more of a pool where one failed: more would fail the same way", () => {
    const failed = one(4, { state: "FAILED" });
    expect(planSize(facts({ pools: [asking(8)], instances: [...many(4), failed], load: 0 }))).toMatchObject({ kind: "keep" });
  });
});

describe("a load that goes up and down", () => {
  /** Runs the decisions hour by hour over a load; instances come and go at once. Returns how many there were, hour by hour. */
  const run = (loads: readonly number[], peakOf: (hour: number) => ScaledPool["peak"] = () => undefined): readonly number[] => {
    let [count, sizes, spareSince] = [4, {} as SizeFacts["sizes"], undefined as SizeFacts["spareSince"]];
    return loads.map((load, hour) => {
      const at = millis(NOW + hour * HOUR_MS);
      const peak = peakOf(hour);
      const pools = [{ ...POOL, ...(peak === undefined ? {} : { peak }) }];
      const plan = planSize(facts({ pools, instances: many(count), load, sizes, spareSince, at }));
      spareSince = plan.kind === "keep" ? plan.spareSince : undefined;
      if (plan.kind !== "keep") {
        count = plan.after;
        sizes = { standard: { instances: count, at, reason: "" } };
      }
      return count;
    });
  };
  const changes = (counts: readonly number[]): number => counts.filter((count, index) => index > 0 && count !== counts[index - 1]).length;

  it("does not have instances come and go, however it goes up and down by a tenth around any level", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 200, max: 7_000 }),
        fc.array(fc.double({ min: 0.95, max: 1.05, noNaN: true }), { minLength: 300, maxLength: 300 }),
        (level, noise) => {
          const counts = run(noise.map((factor) => Math.round(level * factor))).slice(100);
          return changes(counts) <= 1 && Math.max(...counts) - Math.min(...counts) <= 1;
        },
      ),
    );
  });

  it("has instances given up at most twice a day, whatever it does", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 9_000 }), { minLength: 240, maxLength: 240 }), (loads) => {
        const counts = run(loads);
        const given = counts.filter((count, index) => index > 0 && count < (counts[index - 1] ?? 0)).length;
        return given <= 20 && counts.every((count) => count >= 1 && count <= 10);
      }),
    );
  });

  it("has as many as peaks ask for whenever one holds, from a day before, whatever it does", () => {
    const peaks = fc.array(
      fc.record({ from: fc.integer({ min: 6, max: 200 }), hours: fc.integer({ min: 1, max: 24 }), size: fc.integer({ min: 1, max: 10 }) }),
      {
        maxLength: 5,
      },
    );
    const loads = fc.array(fc.integer({ min: 0, max: 7_000 }), { minLength: 240, maxLength: 240 });
    fc.assert(
      fc.property(loads, peaks, (given, declared) => {
        const asked = (hour: number, ahead: number): number =>
          Math.max(0, ...declared.filter(({ from, hours }) => from <= hour + ahead && from + hours > hour).map(({ size }) => size));
        const counts = run(given, (hour) => ({ soon: asked(hour, 24), later: asked(hour, 48) }));
        const left = counts.filter((count, hour) => hour > 0 && count < (counts[hour - 1] ?? 0)).length;
        return left <= 20 && counts.every((count, hour) => count >= asked(hour, 24) && count <= 10);
      }),
    );
  });

  it("is never more than three quarters of what there is, where more may be made", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 7_500 }), { minLength: 50, maxLength: 50 }), (loads) =>
        run(loads).every((count, hour) => (loads[hour] ?? 0) <= count * 750),
      ),
    );
  });
});
