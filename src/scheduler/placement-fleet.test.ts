import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sha256 } from "../domain/hash.ts";
import type { InstanceId, UnitId } from "../domain/ids.ts";
import { type LoadVector, loadVector, ZERO_LOAD } from "../domain/load.ts";
import { complete } from "../domain/resumable.ts";
import { type Candidate, ringNodes } from "./candidate.ts";
import { type CandidateSet, chooseCandidate } from "./choose-candidate.ts";
import { NO_CONSTRAINTS } from "./eligibility.ts";
import { placeOn, placeUnit, shareWith, whyNot } from "./place-unit.ts";
import { openPlacementFleet, type PlacementFleet, type SeekingUnit, summaryOf } from "./placement-fleet.ts";
import { DEFAULT_POLICY } from "./policy.ts";
import { createRingMemo } from "./ring-memo.ts";
import { boundsOf, meanShare } from "./utilisation.ts";

const CAPACITY = loadVector(() => 1_000);
const apps = (applications: number): LoadVector => ({ ...ZERO_LOAD, applications });
const ringOf = createRingMemo()("eu/shared/public");
const aCandidate = (name: string, over: Partial<Candidate> = {}): Candidate => ({
  ...{ id: name as InstanceId, name, state: "ACTIVE", weight: 1, capacity: CAPACITY, load: ZERO_LOAD },
  ...over,
});
const open = (candidates: readonly Candidate[]): PlacementFleet => openPlacementFleet(candidates, DEFAULT_POLICY.hardLimit, ringOf);
const names = (count: number) => Array.from({ length: count }, (_, index) => `i${String(index).padStart(3, "0")}`);

const anyCandidates = fc
  .array(
    fc.record({
      state: fc.constantFrom<Candidate["state"][]>("ACTIVE", "ACTIVE", "ACTIVE", "CORDONED", "DRAINING"),
      health: fc.constantFrom<Candidate["health"][]>(undefined, undefined, undefined, "unknown", "stalled"),
      entries: fc.constantFrom<Candidate["entries"][]>(undefined, "per-workspace"),
      load: fc.record({ applications: fc.nat(1_000), clusterEntries: fc.nat(1_000), milliCpu: fc.nat(1_000) }),
      dedication: fc.constantFrom(undefined, undefined, "anna"),
      occupied: fc.boolean(),
    }),
    { maxLength: 12 },
  )
  .map((all) =>
    all.map(({ state, health, entries, load, dedication, occupied }, index) =>
      aCandidate(names(12)[index] as string, {
        ...{ state, load: { ...ZERO_LOAD, ...load } },
        ...(health === undefined ? {} : { health }),
        ...(entries === undefined ? {} : { entries }),
        ...(dedication === undefined ? {} : { traits: { ...TRAITS, dedication } }),
        ...(occupied ? { occupied: ["w"] } : {}),
      }),
    ),
  );
const TRAITS = { class: "eu/shared/public", region: "eu", trust: "public", engineCluster: "eu-1", channel: "stable", isBelowFloor: false };
const anyUnits = fc.array(
  fc.record({
    load: fc.record({ applications: fc.nat(300), clusterEntries: fc.nat(100), milliCpu: fc.nat(300) }),
    demand: fc.constantFrom(undefined, undefined, { apart: ["w"] }, { needs: [{ dedication: "anna" }] }),
  }),
  { minLength: 1, maxLength: 12 },
);

/** The rule of placement, by nothing but the facts about each instance. */
function chosenPlainly(unit: SeekingUnit, all: readonly Candidate[]): InstanceId | undefined {
  const candidates = all.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const ring = complete(ringOf(ringNodes(candidates)));
  const walk = ring.candidates(unit.id, DEFAULT_POLICY.candidates).map((id) => candidates.findIndex((each) => each.id === id));
  const active = candidates.filter(({ state }) => state === "ACTIVE");
  const mean = meanShare(
    active.map(({ load }) => load),
    active.map(({ capacity }) => capacity),
  );
  const setOf = (takesUnknown: boolean): CandidateSet => ({
    size: candidates.length,
    admits: (index, bound) => whyNot(candidates[index] as Candidate, unit, bound, takesUnknown) === undefined,
    shareWith: (index) => shareWith(candidates[index] as Candidate, unit.load),
    tie: (index) => sha256(`${unit.id}|${candidates[index]?.id}`),
  });
  const bounds = boundsOf(mean, DEFAULT_POLICY);
  const choice = chooseCandidate(setOf(false), walk, bounds) ?? chooseCandidate(setOf(true), walk, bounds);
  return choice && candidates[choice.candidate]?.id;
}

describe("a fleet that is ready for placements", () => {
  it("answers for one unit after the other as one that is made ready anew with what was placed", () => {
    fc.assert(
      fc.property(anyCandidates, anyUnits, (candidates, wanted) => {
        const fleet = open(candidates);
        let now: readonly Candidate[] = candidates;
        for (const [index, { load, demand }] of wanted.entries()) {
          const constraints = { ...NO_CONSTRAINTS, ...demand };
          const unit: SeekingUnit = {
            id: `u${index}` as UnitId,
            load: { ...ZERO_LOAD, ...load },
            ...(demand === undefined ? {} : { constraints }),
          };
          const placement = placeOn(fleet, unit, DEFAULT_POLICY);
          expect(placement).toEqual(placeUnit({ unit, candidates: now, policy: DEFAULT_POLICY }, ringOf));
          expect(placement.kind === "chosen" ? placement.instance : undefined).toBe(chosenPlainly(unit, now));
          if (placement.kind !== "chosen") continue;
          fleet.add(placement.instance, unit.load);
          now = fleet.candidates();
          expect(fleet.summary()).toEqual(summaryOf(now));
        }
      }),
    );
  });

  it("goes by who is there for one unit, and forgets that for the next", () => {
    const fleet = open(names(2).map((name) => aCandidate(name)));
    const unit = { id: "u" as UnitId, load: apps(10), constraints: { needs: [], apart: ["w"], failedAt: [] } };
    const marks = new Map(names(2).map((name) => [name as InstanceId, { occupied: ["w"] }]));
    expect(placeOn(fleet, { ...unit, marks }, DEFAULT_POLICY).facts.refusals).toMatchObject([{ rule: "APART" }, { rule: "APART" }]);
    expect(placeOn(fleet, unit, DEFAULT_POLICY)).toMatchObject({ kind: "chosen" });
    expect(fleet.summary(marks)).toEqual(summaryOf(fleet.candidates(marks)));
    expect(fleet.summary(marks).hash).not.toBe(fleet.summary().hash);
  });

  it("is gone through for none of a thousand units that ask for more than any instance has left", () => {
    const full = open(names(500).map((name) => aCandidate(name, { load: apps(895) })));
    for (let index = 0; index < 1_000; index += 1)
      expect(placeOn(full, { id: `u${index}` as UnitId, load: apps(6) }, DEFAULT_POLICY)).toMatchObject({ kind: "unplaceable" });
    expect(full.visits()).toBe(0);
  });

  it("is gone through for nobody whose preferred instance has room", () => {
    const roomy = open(names(500).map((name) => aCandidate(name)));
    for (let index = 0; index < 1_000; index += 1) {
      const unit = { id: `u${index}` as UnitId, load: apps(10) };
      const placement = placeOn(roomy, unit, DEFAULT_POLICY);
      if (placement.kind === "chosen") roomy.add(placement.instance, unit.load);
    }
    // Each visits its preferred one.
    expect(roomy.visits()).toBe(1_000);
  });

  it("is gone through a few times at most for a unit that fits into none in all dimensions at once", () => {
    const candidates = names(500).map((name, index) =>
      aCandidate(name, { load: index % 2 === 0 ? apps(895) : { ...ZERO_LOAD, milliCpu: 895 } }),
    );
    const fleet = open(candidates);
    const placement = placeOn(fleet, { id: "u" as UnitId, load: { ...apps(6), milliCpu: 6 } }, DEFAULT_POLICY);
    expect(placement).toMatchObject({ kind: "unplaceable" });
    // Under each of three bounds: the walk, and all for the least loaded.
    expect(fleet.visits()).toBeLessThanOrEqual(3 * (DEFAULT_POLICY.candidates + 2 * candidates.length));
  });
});
