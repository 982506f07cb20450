import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sha256 } from "../domain/hash.ts";
import type { InstanceId, UnitId } from "../domain/ids.ts";
import { asLoadVector, LOAD_DIMENSIONS, type LoadDimension, type LoadVector, ZERO_LOAD } from "../domain/load.ts";
import type { Candidate } from "./candidate.ts";
import { placeUnit } from "./place-unit.ts";
import { DEFAULT_POLICY, WHOLE } from "./policy.ts";
import { createRingMemo } from "./ring-memo.ts";

const apps = (count: number): LoadVector => ({ ...ZERO_LOAD, applications: count * 1000 });
const ROOMY: LoadVector = asLoadVector({
  applications: 1_000_000,
  clusterEntries: 60,
  cachedResources: 250_000,
  milliCpu: 2000,
  gitPerMinute: 600_000,
});

function aCandidate(name: string, candidate: Partial<Candidate> = {}): Candidate {
  return { id: name as InstanceId, name, state: "ACTIVE", load: ZERO_LOAD, capacity: ROOMY, weight: 1, ...candidate };
}
const aUnit = (id = "unit", load = apps(10)) => ({ id: id as UnitId, load });
const ringOf = createRingMemo()("eu/shared/public");
const place = (candidates: readonly Candidate[], unit = aUnit(), policy = DEFAULT_POLICY) =>
  placeUnit({ unit, candidates, policy }, ringOf);
const ONE_CANDIDATE = { ...DEFAULT_POLICY, candidates: 1 };

/** The three instances in the order the ring proposes them for the unit. */
const order = (() => {
  const names = ["a", "b", "c"];
  const first = place(names.map((name) => aCandidate(name)));
  if (first.kind !== "chosen") throw new Error("three empty instances have room");
  const rest = names.filter((name) => name !== first.instance);
  const second = place([aCandidate(first.instance, { state: "CORDONED" }), ...rest.map((name) => aCandidate(name))]);
  if (second.kind !== "chosen") throw new Error("two empty instances have room");
  return [first.instance, second.instance, rest.find((name) => name !== second.instance) as InstanceId] as const;
})();

describe("placing a unit", () => {
  it("takes the instance the ring prefers while it has room", () => {
    expect(place(order.map((name) => aCandidate(name)))).toMatchObject({
      kind: "chosen",
      instance: order[0],
      rule: "PREFERRED",
      facts: { refusals: [] },
    });
  });

  it("counts a cluster entry for the unit on an instance where each workspace has one", () => {
    const capacity = { ...ROOMY, clusterEntries: 10 };
    const full = { load: { ...ZERO_LOAD, clusterEntries: 9 }, capacity };
    const [first, ...rest] = order.map((name) => aCandidate(name, full)) as [Candidate, ...Candidate[]];
    const others = rest.map(({ id }) => aCandidate(id, { state: "CORDONED" }));
    expect(place([first, ...others])).toMatchObject({ kind: "chosen", instance: order[0] });
    const apart = place([{ ...first, entries: "per-workspace" }, ...others]);
    expect(apart).toMatchObject({ kind: "unplaceable" });
    expect(apart.facts.refusals).toContainEqual(
      expect.objectContaining({ instance: order[0], rule: "BOUND", dimension: "clusterEntries" }),
    );
  });

  it("passes over an instance that stands still or fails, even if no other has room", () => {
    for (const health of ["stalled", "failed"] as const) {
      const placement = place([aCandidate(order[0], { health }), aCandidate(order[1]), aCandidate(order[2])]);
      expect(placement).toMatchObject({ kind: "chosen", instance: order[1], rule: "SPILL" });
      expect(placement.facts.refusals).toEqual([{ instance: order[0], rule: "HEALTH", health }]);
      expect(place(order.map((name) => aCandidate(name, { health })))).toMatchObject({
        kind: "unplaceable",
        facts: { refusals: order.map((instance) => ({ instance, rule: "HEALTH", health })) },
      });
    }
  });

  it("takes an instance of unknown health if no other will do, chosen as if all were like that", () => {
    const unknown = { health: "unknown" } as const;
    expect(place([aCandidate(order[0], unknown), aCandidate(order[1], { load: apps(800) }), aCandidate(order[2], unknown)])).toMatchObject({
      kind: "chosen",
      instance: order[1],
      facts: { refusals: [{ instance: order[0], rule: "HEALTH", health: "unknown" }] },
    });
    const full = aCandidate(order[1], { load: apps(900) });
    expect(place([aCandidate(order[0], unknown), full, aCandidate(order[2], unknown)])).toMatchObject({
      kind: "chosen",
      instance: order[0],
    });
    expect(place([aCandidate(order[0], { health: "stalled" }), full, aCandidate(order[2], unknown)])).toMatchObject({
      instance: order[2],
      facts: {
        refusals: [
          { instance: order[0], rule: "HEALTH", health: "stalled" },
          { instance: order[1], rule: "BOUND" },
        ],
      },
    });
    expect(place(order.map((name) => aCandidate(name, unknown)))).toMatchObject({ kind: "chosen", instance: order[0], rule: "PREFERRED" });
  });

  it("passes over an instance that takes nothing new and says so", () => {
    const placement = place([aCandidate(order[0], { state: "DRAINING" }), aCandidate(order[1]), aCandidate(order[2])]);
    expect(placement).toMatchObject({ kind: "chosen", instance: order[1], rule: "SPILL" });
    expect(placement.facts.refusals).toEqual([{ instance: order[0], rule: "STATE", state: "DRAINING" }]);
    expect(placement.facts.preferred).toBe(order[0]);
  });

  it("passes over an instance that would exceed the bound and gives the numbers", () => {
    const placement = place([aCandidate(order[0], { load: apps(595) }), aCandidate(order[1]), aCandidate(order[2])]);
    expect(placement).toMatchObject({ kind: "chosen", instance: order[1], rule: "SPILL" });
    expect(placement.facts.refusals).toEqual([
      { instance: order[0], rule: "BOUND", dimension: "applications", would: 605_000, limit: 600_000 },
    ]);
  });

  it("loosens the bound with the mean and fills nothing beyond 90 %", () => {
    const full = order.map((name) => aCandidate(name, { load: apps(850) }));
    expect(place(full, aUnit("unit", apps(40)))).toMatchObject({ kind: "chosen", facts: { bound: 892_500 } });
    expect(place(full, aUnit("unit", apps(50)))).toMatchObject({ kind: "chosen", facts: { bound: 900_000 } });
    expect(place(full, aUnit("unit", apps(51)))).toMatchObject({
      kind: "unplaceable",
      facts: { bound: 900_000, refusals: expect.arrayContaining([expect.objectContaining({ rule: "BOUND" })]) },
    });
  });

  it("takes the least loaded instance when none of the ring's eight candidates has room", () => {
    const candidates = Array.from({ length: 40 }, (_, index) =>
      aCandidate(`s${index}`, { load: apps(index === 17 ? 10 : index === 23 ? 20 : 600) }),
    );
    const free = ["s17", "s23"];
    const units = Array.from({ length: 60 }, (_, index) => aUnit(`unit-${index}`));
    const placements = units
      .map((unit) => place(candidates, unit))
      .filter((placement) => placement.kind === "chosen" && placement.rule === "LEAST_LOADED");
    expect(placements.length).toBeGreaterThan(0);
    for (const placement of placements) {
      expect(placement.kind === "chosen" && placement.instance).toBe("s17");
      expect(free).not.toContain(placement.facts.preferred);
    }
  });

  it("names the refusals before the one it chose, and no others", () => {
    const full = { load: apps(595) };
    const spilled = place([aCandidate(order[0], full), aCandidate(order[1]), aCandidate(order[2], full)]);
    expect(spilled.facts.refusals.map(({ instance }) => instance)).toEqual([order[0]]);
    const preferred = place([aCandidate(order[0]), aCandidate(order[1], full), aCandidate(order[2], full)]);
    expect(preferred).toMatchObject({ rule: "PREFERRED", facts: { refusals: [] } });
  });

  it("names all eight candidates as refused when it takes the least loaded instance", () => {
    const candidates = Array.from({ length: 40 }, (_, index) => aCandidate(`s${index}`, { load: apps(index === 39 ? 10 : 600) }));
    const placement = Array.from({ length: 60 }, (_, index) => place(candidates, aUnit(`unit-${index}`, apps(30)))).find(
      (each) => each.kind === "chosen" && each.rule === "LEAST_LOADED",
    );
    expect(placement).toMatchObject({ instance: "s39" });
    expect(placement?.facts.refusals).toHaveLength(DEFAULT_POLICY.candidates);
  });

  it("finds the least loaded instance by the share that the unit would leave it at, wherever it stands", () => {
    const [first, ...rest] = order;
    for (const [least, other] of [rest, [...rest].reverse()] as [InstanceId, InstanceId][]) {
      const candidates = [
        aCandidate(first, { load: apps(600) }),
        aCandidate(other, { load: apps(11) }),
        aCandidate(least, { load: apps(10) }),
      ];
      for (const shuffled of [candidates, [...candidates].reverse()])
        expect(place(shuffled, aUnit(), ONE_CANDIDATE)).toMatchObject({ instance: least, rule: "LEAST_LOADED" });
      const bigger = { ...ROOMY, applications: 2_000_000 };
      const byShare = candidates.map((candidate) =>
        candidate.id === least ? { ...candidate, load: apps(20), capacity: bigger } : candidate,
      );
      expect(place(byShare, aUnit(), ONE_CANDIDATE)).toMatchObject({ instance: least });
    }
  });

  it("lets a hash of unit and instance decide between equally loaded ones, so that units spread over them", () => {
    const candidates = Array.from({ length: 6 }, (_, index) => aCandidate(`s${index}`, { load: apps(index < 3 ? 595 : 100) }));
    const chosenBy = (each: readonly Candidate[]) =>
      Array.from({ length: 200 }, (_, index) => {
        const placement = place(each, aUnit(`unit-${index}`), ONE_CANDIDATE);
        return placement.kind === "chosen" && placement.rule === "LEAST_LOADED" ? placement.instance : undefined;
      });
    const chosen = chosenBy(candidates);
    expect(chosenBy([...candidates].reverse())).toEqual(chosen);
    const free = ["s3", "s4", "s5"];
    const byHash = (unit: string) => [...free].sort((a, b) => (sha256(`${unit}|${a}`) < sha256(`${unit}|${b}`) ? -1 : 1))[0];
    for (const [index, name] of chosen.entries()) expect([undefined, byHash(`unit-${index}`)]).toContain(name);
    for (const name of free) expect(chosen.filter((each) => each === name).length).toBeGreaterThan(15);
  });

  it("keeps a cordoned or draining instance on the ring, and one that does not serve off it", () => {
    const preferred = (state: Candidate["state"]) =>
      place([aCandidate(order[0], { state }), aCandidate(order[1]), aCandidate(order[2])]).facts.preferred;
    expect(preferred("CORDONED")).toBe(order[0]);
    expect(preferred("DRAINING")).toBe(order[0]);
    expect(preferred("CREATING")).toBe(order[1]);
    expect(preferred("WARMING")).toBe(order[1]);
  });

  it("takes the mean over instances that take units, in their fullest dimension", () => {
    const candidates = [aCandidate("a", { load: { ...apps(200), milliCpu: 800 } }), aCandidate("b", { load: apps(400) })];
    expect(place(candidates).facts.mean).toBe(400_000 - 100_000);
    const cpu = candidates.map((candidate) => ({ ...candidate, load: { ...candidate.load, milliCpu: 1400 } }));
    expect(place(cpu).facts.mean).toBe(700_000);
    expect(place([...cpu, aCandidate("c", { state: "DRAINING", load: apps(1000) })]).facts.mean).toBe(700_000);
  });

  it("names the dimension that would be fullest", () => {
    const load = asLoadVector({
      applications: 610_000,
      clusterEntries: 48,
      cachedResources: 200_000,
      milliCpu: 1800,
      gitPerMinute: 420_000,
    });
    for (const dimension of LOAD_DIMENSIONS) {
      const candidate = aCandidate("a", { load: { ...load, [dimension]: ROOMY[dimension] * 0.95 } });
      expect(place([candidate], aUnit("unit", { ...ZERO_LOAD, milliCpu: 1 })).facts.refusals).toEqual([
        expect.objectContaining({ instance: "a", rule: "BOUND", dimension }),
      ]);
    }
  });

  it("names the first of several dimensions that would be equally full", () => {
    expect(place([aCandidate("a", { load: ROOMY })], aUnit("unit", ZERO_LOAD)).facts.refusals).toMatchObject([
      { dimension: "applications" },
    ]);
  });

  it("states a ceiling for each dimension: the bound's share of the capacity", () => {
    expect(place([aCandidate("a")])).toMatchObject({
      ceiling: { applications: 600_000, clusterEntries: 36, cachedResources: 150_000, milliCpu: 1200, gitPerMinute: 360_000 },
    });
  });

  it("names twenty instances of a class that is full: the candidates first, then the others by id", () => {
    const candidates = Array.from({ length: 40 }, (_, index) => aCandidate(`s${String(index).padStart(2, "0")}`, { load: apps(900) }));
    for (const each of [candidates, [...candidates].reverse()]) {
      const placement = place(each);
      const named = placement.facts.refusals.map(({ instance }) => instance);
      expect(named).toHaveLength(20);
      expect(named[0]).toBe(placement.facts.preferred);
      const walked = named.slice(0, DEFAULT_POLICY.candidates);
      const others = candidates.map(({ id }) => id).filter((id) => !walked.includes(id));
      expect(named.slice(DEFAULT_POLICY.candidates)).toEqual(others.slice(0, 12));
    }
  });

  it("answers the same with a remembered ring", () => {
    const candidates = order.map((name) => aCandidate(name));
    for (const unit of [aUnit("one"), aUnit("two"), aUnit("three")])
      expect(place(candidates, unit)).toEqual(placeUnit({ unit, candidates, policy: DEFAULT_POLICY }));
  });

  it("reports a class without instances, one without ACTIVE ones and one without capacity as full", () => {
    expect(place([])).toMatchObject({ kind: "unplaceable", facts: { preferred: undefined } });
    expect(place([aCandidate("a", { state: "CREATING" })])).toMatchObject({ kind: "unplaceable" });
    const nothing = place([aCandidate("a", { capacity: ZERO_LOAD })]);
    expect(nothing.facts.refusals).toEqual([
      { instance: "a", rule: "BOUND", dimension: "applications", would: Number.MAX_SAFE_INTEGER, limit: 900_000 },
    ]);
  });

  it("places a unit without load even where there is no capacity for any, and calls that empty", () => {
    expect(place([aCandidate("a", { capacity: ZERO_LOAD })], aUnit("unit", ZERO_LOAD))).toMatchObject({
      kind: "chosen",
      facts: { mean: 0, bound: 600_000 },
    });
  });

  const amount = fc.nat({ max: 1_000_000 });
  const vector = fc
    .record(Object.fromEntries(LOAD_DIMENSIONS.map((name) => [name, amount])) as Record<LoadDimension, fc.Arbitrary<number>>)
    .map(asLoadVector);
  const candidate = fc.record({
    state: fc.constantFrom<Candidate["state"][]>("ACTIVE", "ACTIVE", "ACTIVE", "CORDONED", "DRAINING", "WARMING"),
    load: vector,
    capacity: vector,
    weight: fc.integer({ min: 1, max: 4 }),
  });
  const fleet = fc.array(candidate, { maxLength: 12 }).map((candidates) => candidates.map((each, index) => aCandidate(`s${index}`, each)));

  it("never exceeds the ceiling it states, nor 90 % of a capacity, and never takes an instance that is not ACTIVE", () => {
    fc.assert(
      fc.property(fleet, vector, (candidates, load) => {
        const placement = place(candidates, aUnit("unit", load));
        if (placement.kind !== "chosen") return;
        const chosen = candidates.find(({ id }) => id === placement.instance);
        expect(chosen?.state).toBe("ACTIVE");
        for (const dimension of LOAD_DIMENSIONS) {
          const after = (chosen?.load[dimension] ?? 0) + load[dimension];
          expect(after).toBeLessThanOrEqual(placement.ceiling[dimension]);
          expect(placement.ceiling[dimension] * WHOLE).toBeLessThanOrEqual((chosen?.capacity[dimension] ?? 0) * DEFAULT_POLICY.hardLimit);
        }
      }),
    );
  });

  it("answers the same in whatever order the instances come", () => {
    fc.assert(
      fc.property(fleet, vector, (candidates, load) => {
        expect(place([...candidates].reverse(), aUnit("unit", load))).toEqual(place(candidates, aUnit("unit", load)));
      }),
    );
  });

  it("calls a unit unplaceable only when no ACTIVE instance has room under 90 %", () => {
    fc.assert(
      fc.property(fleet, vector, (candidates, load) => {
        if (place(candidates, aUnit("unit", load)).kind === "chosen") return;
        for (const { state, load: held, capacity } of candidates.filter((each) => each.state === "ACTIVE")) {
          const isOver = LOAD_DIMENSIONS.some(
            (name) => held[name] + load[name] > Math.floor((capacity[name] * DEFAULT_POLICY.hardLimit) / WHOLE),
          );
          expect(state === "ACTIVE" && isOver).toBe(true);
        }
      }),
    );
  });
});
