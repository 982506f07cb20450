import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { InstanceId } from "../domain/ids.ts";
import { CANARY_UNITS, planWaves, type WaveCandidate } from "./plan-waves.ts";

const RESYNC_MS = 180_000;
const aCandidate = (index: number, over: Partial<Omit<WaveCandidate, "instance">> = {}): WaveCandidate => {
  const id = `i-${String(index).padStart(3, "0")}` as InstanceId;
  return {
    instance: { id, name: id, engineCluster: "eu-1", version: "3.5.6" },
    units: 10,
    utilisation: index / 1000,
    capacity: 1,
    isFirst: false,
    ...over,
  };
};
const fleet = (size: number, over: Partial<Omit<WaveCandidate, "instance">> = {}) =>
  Array.from({ length: size }, (_, index) => aCandidate(index, over));
const usual = { mode: "in-place" as const, isEmergency: false, resyncMs: RESYNC_MS };
const shapeOf = (candidates: readonly WaveCandidate[], options = usual) =>
  planWaves(candidates, options).map(({ name, instances }) => `${name}: ${instances.length}`);

describe("planning waves", () => {
  it.each([
    [0, []],
    [1, ["canary: 1"]],
    [2, ["canary: 1", "100 %: 1"]],
    [4, ["canary: 1", "50 %: 1", "100 %: 2"]],
    [20, ["canary: 3", "20 %: 1", "50 %: 6", "100 %: 10"]],
    [100, ["canary: 3", "5 %: 2", "20 %: 15", "50 %: 30", "100 %: 50"]],
  ] as const)("puts %i equal instances into waves", (size, shape) => {
    expect(shapeOf(fleet(size))).toEqual(shape);
  });

  it("takes a canary from each third by load, and the fullest of a third only where the canaries have less than 30 units otherwise", () => {
    const canariesOf = (units: (index: number) => number) =>
      planWaves(
        Array.from({ length: 12 }, (_, index) => aCandidate(index, { units: units(index) })),
        usual,
      )[0]?.instances.map(({ id }) => id);
    expect(canariesOf(() => 10)).toEqual(["i-001", "i-005", "i-009"]);
    expect(canariesOf((index) => (index === 3 ? 40 : 1))).toEqual(["i-003", "i-005", "i-009"]);
    expect(canariesOf((index) => index)).toEqual(["i-003", "i-007", "i-011"]);
  });

  it("puts empty instances first where instances are emptied, and only there", () => {
    const all = [...fleet(4), aCandidate(8, { units: 0 }), aCandidate(9, { units: 0 })];
    const [spare, ...rest] = planWaves(all, { ...usual, mode: "drain" });
    expect([spare?.name, spare?.instances.length]).toEqual(["spare", 2]);
    expect(rest.map(({ name }) => name)).toEqual(planWaves(fleet(4), usual).map(({ name }) => name));
    expect(planWaves(all, usual)[0]?.name).toBe("canary");
  });

  it("measures shares in capacity, not in instances", () => {
    const large = aCandidate(9, { capacity: 7, utilisation: 0.9 });
    expect(shapeOf([...fleet(3), large])).toEqual(["canary: 1", "20 %: 1", "50 %: 2"]);
  });

  it("plans a canary, half and the rest for an emergency, with bakes no longer than one resync", () => {
    const waves = planWaves(fleet(100), { ...usual, isEmergency: true });
    expect(waves.map(({ name }) => name)).toEqual(["canary", "50 %", "100 %"]);
    expect(waves.every(({ bakeMs }) => bakeMs === RESYNC_MS)).toBe(true);
    expect(planWaves(fleet(4), { ...usual, bakeMs: 1_000 }).map(({ bakeMs }) => bakeMs)).toEqual([RESYNC_MS, RESYNC_MS, RESYNC_MS]);
    expect(planWaves(fleet(4), usual)[0]?.bakeMs).toBe(3_600_000);
  });

  it("gives a release to the cohort first, canaries of it before the rest, and counts what has it in the shares of the others", () => {
    const cohort = (size: number) => Array.from({ length: size }, (_, index) => aCandidate(100 + index, { isFirst: true }));
    expect(shapeOf([...fleet(3), ...cohort(1)])).toEqual(["cohort canary: 1", "50 %: 1", "100 %: 2"]);
    expect(shapeOf([...fleet(90), ...cohort(10)])).toEqual([
      ...["cohort canary: 2", "cohort 50 %: 3", "cohort 100 %: 5"],
      ...["20 %: 10", "50 %: 30", "100 %: 50"],
    ]);
    expect(shapeOf(cohort(2))).toEqual(["cohort canary: 1", "cohort 100 %: 1"]);
    const [first, second] = planWaves([...fleet(3), ...cohort(1)], usual);
    expect([first?.bakeMs, second?.bakeMs]).toEqual([3_600_000, 1_800_000]);
    const emptied = planWaves([...fleet(2), aCandidate(5, { units: 0 }), ...cohort(1), aCandidate(200, { units: 0, isFirst: true })], {
      ...usual,
      mode: "drain",
    });
    expect(emptied.map(({ name }) => name)).toEqual(["cohort spare", "cohort canary", "spare", "100 %"]);
  });

  it("begins the others with canaries where the cohort's hold nothing, and show nothing", () => {
    const empty = aCandidate(100, { units: 0, isFirst: true });
    expect(shapeOf([...fleet(4), empty])).toEqual(["cohort canary: 1", "canary: 1", "50 %: 1", "100 %: 2"]);
    expect(planWaves([...fleet(4), empty], { ...usual, mode: "drain" }).map(({ name }) => name)).toEqual([
      ...["cohort spare", "canary", "50 %", "100 %"],
    ]);
  });

  it("gives no other instance a release before all of the cohort have it, whatever the fleet, the mode and the hurry", () => {
    const one = fc.record({ units: fc.nat(3), utilisation: fc.double({ min: 0, max: 2, noNaN: true }), isFirst: fc.boolean() });
    fc.assert(
      fc.property(
        fc.array(one, { maxLength: 60 }),
        fc.boolean(),
        fc.constantFrom("in-place" as const, "drain" as const),
        (all, isEmergency, mode) => {
          const candidates = all.map((each, index) => aCandidate(index, each));
          const isFirst = new Map(candidates.map((each) => [each.instance.id, each.isFirst]));
          const waves = planWaves(candidates, { ...usual, isEmergency, mode });
          const ids = waves.map(({ instances }) => instances.map(({ id }) => id));
          expect(ids.flat().toSorted()).toEqual(candidates.map(({ instance }) => instance.id));
          expect(ids.every((some) => some.length > 0)).toBe(true);
          const kinds = ids.map((some) => [...new Set(some.map((id) => isFirst.get(id)))]);
          expect(kinds.every((some) => some.length === 1)).toBe(true);
          expect(kinds.flat()).toEqual(kinds.flat().toSorted((a, b) => Number(b) - Number(a)));
          expect(waves.map(({ name }) => name.startsWith("cohort "))).toEqual(kinds.flat());
          expect(new Set(waves.map(({ name }) => name)).size).toBe(waves.length);
        },
      ),
    );
  });

  it("upgrades every instance exactly once, whatever the fleet, and at most a quarter of them as canaries", () => {
    const one = fc.record({
      units: fc.nat(50),
      utilisation: fc.double({ min: 0, max: 2, noNaN: true }),
      capacity: fc.integer({ min: 1, max: 9 }),
    });
    fc.assert(
      fc.property(fc.array(one, { maxLength: 60 }), fc.boolean(), (all, isEmergency) => {
        const candidates = all.map((each, index) => aCandidate(index, each));
        const waves = planWaves(candidates, { ...usual, isEmergency });
        const ids = waves.flatMap(({ instances }) => instances.map(({ id }) => id));
        expect(ids.toSorted()).toEqual(candidates.map(({ instance }) => instance.id));
        const canaries = waves[0]?.instances ?? [];
        expect(canaries.length).toBeLessThanOrEqual(Math.max(1, candidates.length / 4));
        const units = (some: readonly { readonly units: number }[]) => some.reduce((total, each) => total + each.units, 0);
        const third = Math.ceil(candidates.length / 3);
        // Where the fullest of each third have 30 units in all, the canaries have them.
        if (
          canaries.length === 3 &&
          units(candidates.toSorted((a, b) => a.utilisation - b.utilisation).slice(0, third)) >= CANARY_UNITS * third
        )
          expect(units(canaries)).toBeGreaterThanOrEqual(CANARY_UNITS);
      }),
    );
  });
});
