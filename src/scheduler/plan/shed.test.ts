import { describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import type { InstanceId } from "../../domain/ids.ts";
import { ZERO_LOAD } from "../../domain/load.ts";
import { WHOLE } from "../policy.ts";
import { createRingMemo } from "../ring-memo.ts";
import { aCandidate, aSnapshot, aUnit, HOUR_MS, LONG_ABOVE, NOON, units } from "../testing/snapshots.ts";
import { planMoves } from "./plan-moves.ts";
import { DEFAULT_PLANNER_POLICY, type PlannerPolicy } from "./planner-policy.ts";
import type { PlanCandidate, PlanSnapshot, PlanUnit } from "./snapshot.ts";

const ringOf = createRingMemo()("eu/shared/public");
const budgets = { ...DEFAULT_PLANNER_POLICY.budgets, workspaces: WHOLE, movesPerPlan: 100, movesPerInstance: 100, movesPerHour: 100 };
const plan = (snapshot: PlanSnapshot, policy: Partial<PlannerPolicy> = {}) =>
  planMoves(snapshot, { policy: { ...DEFAULT_PLANNER_POLICY, budgets, ...policy }, ringOf });

describe("where units of a full instance go", () => {
  // The mean is 587 of 1,000: 1.05 × is 616, 0.95 × is 557.
  const candidates = [aCandidate("a", LONG_ABOVE), aCandidate("b"), aCandidate("c")];
  const snapshot = aSnapshot(candidates, [...units("a", 85, 10), ...units("b", 56, 10), ...units("c", 35, 10)]);

  it("is first where most room is left, so that the next fluctuation does not cause moves from there", () => {
    const { moves } = plan(snapshot, { budgets: { ...budgets, movesPerPlan: 20 } });
    expect(moves.map(({ to }) => to)).toEqual(Array.from({ length: 20 }, () => "c"));
  });

  it("is the ring's preferred instance, if all have room", () => {
    const { moves } = plan(snapshot, { shedInto: [] });
    expect(new Set(moves.map(({ to }) => to))).toEqual(new Set(["b", "c"]));
  });

  it("is above the mean if no instance is below, but never above 1.05 × the mean", () => {
    const held = [...units("a", 20, 60), ...["b", "c", "d", "e"].flatMap((name) => units(name, 12, 51))];
    const even = aSnapshot([aCandidate("a", LONG_ABOVE), ...["b", "c", "d", "e"].map((name) => aCandidate(name))], held);
    const { moves, report } = plan(even);
    for (const name of ["b", "c", "d", "e"])
      expect(612 + 60 * moves.filter(({ to }) => to === name).length).toBeLessThanOrEqual((report.shedTo * 1_000) / WHOLE);
    expect(moves.length).toBeGreaterThan(0);
  });
});

describe("how many units leave", () => {
  /** 800 of 1,000, of which 228 have to leave: one large unit, or five middling ones, which together are less. */
  const held = (name: string): readonly PlanUnit[] => [
    aUnit(`${name}-large`, name, 400),
    ...units(name, 5, 50),
    ...Array.from({ length: 15 }, (_, index) => aUnit(`${name}-small-${index}`, name, 10)),
  ];
  const others = ["c", "d", "e", "f"];
  const fleet = (a: Partial<PlanCandidate>, b: Partial<PlanCandidate>) =>
    aSnapshot(
      [aCandidate("a", a), aCandidate("b", b), ...others.map((name) => aCandidate(name))],
      [...held("a"), ...held("b"), ...others.flatMap((name) => units(name, 10, 10))],
    );
  const left = (snapshot: PlanSnapshot, policy: Partial<PlannerPolicy> = {}) =>
    plan(snapshot, policy)
      .moves.map(({ unit }) => unit)
      .sort();

  it("is the cheapest number when one instance sheds alone", () => {
    expect(left(fleet(LONG_ABOVE, {}))).toEqual(["a-000", "a-001", "a-002", "a-003", "a-004"]);
  });

  it("is near the fewest when several shed, because their moves wait for each other", () => {
    expect(left(fleet(LONG_ABOVE, LONG_ABOVE))).toEqual(["a-large", "b-large"]);
  });

  it("may be one more than the fewest where that saves most load, even if others are fuller", () => {
    // Of c, 228 have to leave: 400, or 130 and 100. Of a, which is fuller, 238: 390, or 140 and 120, which saves less.
    const pair = [aUnit("c-1", "c", 130), aUnit("c-2", "c", 100), aUnit("c-large", "c", 400), aUnit("c-rest", "c", 170)];
    const fullest = [aUnit("a-large", "a", 390), aUnit("a-1", "a", 160), aUnit("a-2", "a", 140), aUnit("a-3", "a", 120)];
    const candidates = [
      aCandidate("a", LONG_ABOVE),
      aCandidate("b", LONG_ABOVE),
      aCandidate("c", LONG_ABOVE),
      ...["d", "e", "f", "g", "h"].map((name) => aCandidate(name)),
    ];
    const empty = ["b", "d", "e", "f", "g", "h"].flatMap((name) => units(name, 10, 10));
    expect(left(aSnapshot(candidates, [...fullest, ...pair, ...empty]))).toEqual(["a-large", "c-1", "c-2"]);
  });

  it("may be more by a share of what all of them need at least", () => {
    const moved = left(fleet(LONG_ABOVE, LONG_ABOVE), { spareMoves: 2 * WHOLE });
    expect(moved).toEqual(["a-000", "a-001", "a-002", "a-003", "a-004", "b-large"]);
  });

  it("is near the fewest for an overloaded instance: it is relieved only when the last unit has left", () => {
    expect(left(fleet({ isOverloaded: true }, {}))).toEqual(["a-large"]);
  });
});

describe("an instance beyond the hard limit", () => {
  const at = (count: number, forMs: number) =>
    plan(
      aSnapshot(
        [aCandidate("a", { aboveSince: millis(NOON - forMs) }), ...["b", "c", "d", "e"].map((name) => aCandidate(name))],
        [...units("a", count, 10), ...["b", "c", "d", "e"].flatMap((name) => units(name, 55, 10))],
      ),
    );

  it("sheds after an hour, others after half a day", () => {
    expect(at(91, HOUR_MS).moves.length).toBeGreaterThan(0);
    expect(at(91, HOUR_MS - 1).report.blockedBy).toMatchObject([{ rule: "PERSISTENCE", forMs: HOUR_MS - 1, persistMs: HOUR_MS }]);
    expect(at(90, HOUR_MS).report.blockedBy).toMatchObject([{ rule: "PERSISTENCE", persistMs: 12 * HOUR_MS }]);
    expect(at(90, 12 * HOUR_MS).moves.length).toBeGreaterThan(0);
  });

  it("adds what it sheds to the lower bound from then on", () => {
    expect(at(91, HOUR_MS - 1).report.lowerBound.toTarget).toBe(0);
    expect(at(91, HOUR_MS).report.lowerBound.toTarget).toBeGreaterThan(0);
  });
});

describe("which instance is helped first", () => {
  const others = ["x", "y", "z"];
  const fleet = (...full: readonly (readonly [name: string, count: number, candidate: Partial<PlanCandidate>])[]) =>
    aSnapshot(
      [...full.map(([name, , candidate]) => aCandidate(name, candidate)), ...others.map((name) => aCandidate(name))],
      [...full.flatMap(([name, count]) => units(name, count, 10)), ...others.flatMap((name) => units(name, 10, 10))],
    );
  const one = { budgets: { ...budgets, movesPerPlan: 1, hotFactor: 1 } };
  const first = (snapshot: PlanSnapshot) => plan(snapshot, one).moves.map(({ from, reason }) => `${from} ${reason}`);

  it("is the fullest, and the first by id among those that are equally full", () => {
    expect(first(fleet(["a", 70, LONG_ABOVE], ["b", 80, LONG_ABOVE]))).toEqual(["b SHED"]);
    expect(first(fleet(["b", 80, LONG_ABOVE], ["a", 80, LONG_ABOVE]))).toEqual(["a SHED"]);
  });

  it("is one that is overloaded before any that is merely full", () => {
    expect(first(fleet(["a", 85, LONG_ABOVE], ["b", 50, { isOverloaded: true }]))).toEqual(["b HOT"]);
    expect(first(fleet(["a", 50, { isOverloaded: true }], ["b", 60, { isOverloaded: true }]))).toEqual(["b HOT"]);
  });

  it("may be a cordoned one, but not one that does not serve yet", () => {
    expect(first(fleet(["a", 80, { ...LONG_ABOVE, state: "CORDONED" }]))).toEqual(["a SHED"]);
    expect(first(fleet(["a", 80, { isOverloaded: true, state: "CORDONED" }]))).toEqual(["a HOT"]);
    const leaving = plan(fleet(["a", 20, { isOverloaded: true, state: "DRAINING" }]));
    expect(new Set(leaving.moves.map(({ reason }) => reason))).toEqual(new Set(["FORCED"]));
  });

  it("is named with how full it was and is meant to be, at the time", () => {
    const [record] = plan(fleet(["a", 80, LONG_ABOVE]), one).records;
    expect(record?.cause).toMatchObject({ rule: "ABOVE", instance: "a", share: 800_000, limit: 600_000, persistMs: 12 * HOUR_MS });
    expect(record?.cause).toMatchObject({ load: { applications: 800, milliCpu: 0 }, capacity: { applications: 1_000, milliCpu: 1_000 } });
    const [hot] = plan(fleet(["a", 50, { isOverloaded: true }]), one).records;
    expect(hot?.cause).toMatchObject({ rule: "OVERLOADED", instance: "a", share: 500_000, limit: 425_000 });
  });
});

describe("what leaves a full instance", () => {
  const left = (held: readonly PlanUnit[], candidate: Partial<PlanCandidate> = LONG_ABOVE) =>
    plan(aSnapshot([aCandidate("a", candidate), aCandidate("b"), aCandidate("c")], held)).moves.map(({ unit }) => unit);

  it("is no unit without load in the dimension that is full", () => {
    const heavy = Array.from({ length: 16 }, (_, index) => aUnit(`cpu-${index}`, "a", 0, { load: { ...ZERO_LOAD, milliCpu: 50 } }));
    expect(left([...units("a", 10, 5), ...heavy]).every((unit) => unit.startsWith("cpu-"))).toBe(true);
  });

  it("is the next unit if one that should leave has no instance to go to", () => {
    const pinned = { needs: { pinnedTo: ["a" as InstanceId] } };
    const held = [aUnit("a-fits", "a", 100, pinned), aUnit("a-1", "a", 60), aUnit("a-2", "a", 60), aUnit("a-rest", "a", 440, pinned)];
    expect(left(held).toSorted()).toEqual(["a-1", "a-2"]);
  });

  it("is no unit of a group that is on several instances, or that has been moved already", () => {
    const spread = { needs: { together: "t" }, movingTo: "b" as InstanceId };
    const held = [aUnit("g1", "a", 100, spread), aUnit("g2", "b", 100, spread), ...units("a", 70, 10)];
    const moved = left(held);
    expect(moved.some((unit) => unit.startsWith("g"))).toBe(false);
    expect(new Set(moved).size).toBe(moved.length);
  });
});
