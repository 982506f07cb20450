import { describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import type { InstanceId, UnitId, WorkspaceId } from "../../domain/ids.ts";
import { loadVector, ZERO_LOAD } from "../../domain/load.ts";
import { complete } from "../../domain/resumable.ts";
import { WHOLE } from "../policy.ts";
import { createRingMemo } from "../ring-memo.ts";
import { aCandidate, apps, aSnapshot, aUnit, HOUR_MS, LONG_ABOVE, NOON, units } from "../testing/snapshots.ts";
import { nextAbove } from "./next-class-state.ts";
import { planMoves } from "./plan-moves.ts";
import { DEFAULT_PLANNER_POLICY, type PlannerPolicy } from "./planner-policy.ts";
import type { PlanSnapshot } from "./snapshot.ts";

const ringOf = createRingMemo()("eu/shared/public");
const BUDGETS = { ...DEFAULT_PLANNER_POLICY.budgets, workspaces: WHOLE };
const plan = (snapshot: PlanSnapshot, budgets: Partial<PlannerPolicy["budgets"]> = {}) =>
  planMoves(snapshot, { policy: { ...DEFAULT_PLANNER_POLICY, budgets: { ...BUDGETS, ...budgets } }, ringOf });
const OTHERS = ["b", "c", "d", "e"];
/** One instance at 85 %, four at 55 %. */
const full = (candidate = LONG_ABOVE) =>
  aSnapshot(
    [aCandidate("a", candidate), ...OTHERS.map((name) => aCandidate(name))],
    [...units("a", 85, 10), ...OTHERS.flatMap((name) => units(name, 55, 10))],
  );
const withUnits = (snapshot: PlanSnapshot, change: Partial<PlanSnapshot["units"][number]>): PlanSnapshot => ({
  ...snapshot,
  units: snapshot.units.map((unit) => (unit.owner === "a" ? { ...unit, ...change } : unit)),
});

describe("an instance that has long been above the bound", () => {
  it("sheds down to 1.05 × the mean, which is below the bound that brought it there", () => {
    const { moves, report } = plan(full());
    expect(report).toMatchObject({ mean: 610_000, bound: 671_000, shedTo: 640_500 });
    expect(moves).toHaveLength(20);
    expect(moves.every(({ from, reason }) => from === "a" && reason === "SHED")).toBe(true);
    expect(report.blockedBy).toMatchObject([{ rule: "PLAN_MOVES", used: 20, asked: 1, limit: 20 }]);
    const all = plan(full(), { movesPerPlan: 100, movesPerInstance: 100 });
    expect(all.report.after).toMatchObject({ share: 640_000, above: 0 });
    expect(all.moves).toHaveLength(21);
    expect(all.report.blockedBy).toEqual([]);
  });

  it("waits until that has lasted for half a day, and says how long it has", () => {
    const persistMs = 12 * HOUR_MS;
    const { moves, report } = plan(full({ aboveSince: millis(NOON - persistMs + 1) }));
    expect(moves).toEqual([]);
    expect(report.blockedBy).toEqual([{ rule: "PERSISTENCE", instance: "a", forMs: persistMs - 1, persistMs }]);
    expect(plan(full({ aboveSince: millis(NOON - persistMs) })).moves.length).toBeGreaterThan(0);
    expect(plan(full({})).report.blockedBy).toMatchObject([{ rule: "PERSISTENCE", forMs: 0 }]);
  });

  it("counts as above the bound since it was first measured so, until it is back", () => {
    expect([...nextAbove(full({}))]).toEqual([["a", NOON]]);
    expect([...nextAbove(full())]).toEqual([["a", NOON - 13 * HOUR_MS]]);
    expect([...nextAbove(aSnapshot([aCandidate("a", LONG_ABOVE)], []))]).toEqual([]);
  });

  it("keeps units that cool down, are held, failed to move or are on their way, and says until when", () => {
    const left = (change: Partial<PlanSnapshot["units"][number]>) => {
      const { moves, report } = plan(withUnits(full(), change));
      expect(moves).toEqual([]);
      expect(report.left.count).toBe(85);
      expect(report.left.shown).toHaveLength(50);
      return report.left.shown[0];
    };
    const stay = { unit: "a-000", instance: "a", at: NOON };
    expect(left({ movedAt: millis(NOON - 23 * HOUR_MS) })).toEqual({ ...stay, rule: "COOL_DOWN", until: NOON + HOUR_MS });
    expect(left({ doNotMoveUntil: millis(NOON + 1) })).toEqual({ ...stay, rule: "DO_NOT_MOVE", until: NOON + 1 });
    const failed = (times: number, hours: number) => ({ failed: { times, at: millis(NOON - hours * HOUR_MS), to: "b" as InstanceId } });
    expect(left(failed(1, 5))).toEqual({ ...stay, rule: "FAILED_BEFORE", until: NOON + HOUR_MS });
    expect(left(failed(2, 11))).toMatchObject({ until: NOON + HOUR_MS });
    expect(left(failed(99, 23))).toMatchObject({ until: NOON + HOUR_MS });
    expect(left({ movingTo: "a" as InstanceId })).toEqual({ ...stay, rule: "MOVING", until: undefined });
    for (const over of [{ movedAt: millis(NOON - 24 * HOUR_MS) }, { doNotMoveUntil: NOON }, failed(1, 6)])
      expect(plan(withUnits(full(), over)).moves.length).toBeGreaterThan(0);
  });

  it("counts a unit that is on its way both where it is and where it goes", () => {
    const snapshot = aSnapshot(
      [aCandidate("a"), aCandidate("b")],
      [...units("a", 1, 500, { movingTo: "b" as InstanceId }), aUnit("new", undefined, 450)],
    );
    const { moves, report } = plan(snapshot);
    expect(moves).toEqual([]);
    expect(report.unplaceable).toMatchObject([{ answer: { refusals: [{ would: 950_000 }, { would: 950_000 }] } }]);
  });

  it("exchanges a unit for a smaller one when none fits elsewhere alone", () => {
    const candidates = [aCandidate("a", LONG_ABOVE), aCandidate("b")];
    const held = [...units("a", 3, 260), aUnit("small", "b", 180), aUnit("large", "b", 420)];
    const { moves, report } = plan(aSnapshot(candidates, held));
    expect(report.bound).toBe(759_000);
    expect(moves.map(({ reason }) => reason)).toEqual(["SWAP", "SWAP"]);
    expect(new Set(moves.map(({ from, to }) => `${from}${to}`))).toEqual(new Set(["ab", "ba"]));
    expect(report.after).toMatchObject({ share: 700_000, above: 0 });
  });

  it("is named as in need of capacity when nothing can leave it", () => {
    const held = [aUnit("u", "a", 700), aUnit("v", "b", 550), aUnit("w", "c", 550)];
    const { moves, report } = plan(aSnapshot([aCandidate("a", LONG_ABOVE), aCandidate("b"), aCandidate("c")], held));
    expect(moves).toEqual([]);
    expect(report.needsCapacity).toEqual(["a"]);
    expect(report.withoutCandidate).toMatchObject([{ units: ["u"], reason: "SHED", answer: { rule: "NOTHING_FITS" } }]);
  });

  it("is relieved in its fullest dimension", () => {
    const heavy = aUnit("cpu", "a", 0, { load: { ...ZERO_LOAD, milliCpu: 200 } });
    const more = aUnit("cpu2", "a", 0, { load: { ...ZERO_LOAD, milliCpu: 600 } });
    const snapshot = aSnapshot([aCandidate("a", LONG_ABOVE), aCandidate("b")], [heavy, more, ...units("a", 10, 20)]);
    expect(plan(snapshot).moves.map(({ unit }) => unit)).toEqual(["cpu"]);
  });
});

describe("an instance that is overloaded now", () => {
  const hot = (more: Partial<PlanSnapshot> = {}): PlanSnapshot => {
    const calm = full({ isOverloaded: true });
    return {
      ...calm,
      units: calm.units.map((unit) => ({ ...unit, load: apps(5), recentLoad: unit.owner === "a" ? apps(10) : apps(500) })),
      ...more,
    };
  };

  it("sheds by the present load of its units, with four times the budget, without waiting and without cool-downs", () => {
    const { moves, report } = plan(withUnits(hot(), { movedAt: NOON }), { movesPerPlan: 6, movesPerInstance: 6 });
    expect(report.before.share).toBe(850_000);
    expect(report.bound).toBe(600_000);
    expect(moves).toHaveLength(24);
    expect(moves.every(({ reason }) => reason === "HOT")).toBe(true);
  });

  it("comes down to the bound, or by a fixed share if it is below that already", () => {
    expect(plan(hot(), { movesPerInstance: 100, movesPerPlan: 100 }).report.after.share).toBe(600_000);
    const below = withUnits(hot(), { recentLoad: apps(6) });
    const { report } = plan(below, { movesPerInstance: 100, movesPerPlan: 100 });
    expect(report.before.share).toBe(510_000);
    expect(report.after.share).toBeLessThanOrEqual(433_500);
    expect(report.after.share).toBeGreaterThan(420_000);
  });

  it("is relieved although the fleet's total jumped, but not with stale metrics, in a freeze, or against a hold", () => {
    const jump = { kind: "distrusted", rule: "JUMP", dimension: "milliCpu", was: 1, is: 2, limit: 1 } as const;
    expect(plan(hot({ metrics: jump })).moves.length).toBeGreaterThan(0);
    const stale = { kind: "distrusted", rule: "STALE", newest: NOON, ageMs: 2, limitMs: 1 } as const;
    for (const more of [{ metrics: stale }, { freeze: { reason: "week-end", until: millis(NOON + 1) } }]) {
      const { moves, report } = plan(hot(more));
      expect(moves).toEqual([]);
      expect(report.blockedBy).toHaveLength(1);
    }
    expect(plan(withUnits(hot(), { doNotMoveUntil: millis(NOON + 1) })).moves).toEqual([]);
  });
});

describe("budgets", () => {
  const jump = { kind: "distrusted", rule: "JUMP", dimension: "milliCpu", was: 1, is: 2, limit: 1 } as const;

  it.each<[string, Partial<PlanSnapshot>, object]>([
    ["metrics that are not trusted", { metrics: jump }, { rule: "METRICS", verdict: jump }],
    [
      "a freeze",
      { freeze: { reason: "week-end", until: millis(NOON + 1) } },
      { rule: "FREEZE", reason: "week-end", at: NOON, until: NOON + 1 },
    ],
    ["three failures", { outcomes: ["failed", "done", "failed", "failed"] }, { rule: "BREAKER", failed: 3, of: 4, limit: 3 }],
  ])("stop voluntary moves for %s, and no forced ones", (_what, more, blockedBy) => {
    const snapshot = { ...full(), ...more };
    const filling = { ...aSnapshot([aCandidate("a", { isFilling: true }), aCandidate("b")], units("b", 50, 10)), ...more };
    for (const each of [snapshot, filling])
      expect(plan(each).report).toMatchObject({ blockedBy: [blockedBy], moves: { SHED: 0, FILL: 0 } });
    const drained = {
      ...snapshot,
      candidates: snapshot.candidates.map((candidate) => (candidate.id === "b" ? { ...candidate, state: "DRAINING" as const } : candidate)),
    };
    expect(plan(drained).report.moves).toMatchObject({ FORCED: 55, SHED: 0 });
  });

  it("do not block moves for a freeze that is over, two failures, or failures long ago", () => {
    const long = [...Array.from({ length: 20 }, () => "done" as const), "failed", "failed", "failed"] as const;
    for (const more of [{ freeze: { reason: "", until: NOON } }, { outcomes: ["failed", "failed"] as const }, { outcomes: long }])
      expect(plan({ ...full(), ...more }).moves.length).toBeGreaterThan(0);
  });

  it("count the moves of the last hour", () => {
    const recentMoves = Array.from({ length: 8 }, (_, index) => ({
      unit: `x${index}` as UnitId,
      from: "p" as InstanceId,
      to: "q" as InstanceId,
    }));
    const { moves, report } = plan({ ...full(), recentMoves }, { movesPerHour: 10 });
    expect(moves).toHaveLength(2);
    expect(report.blockedBy).toMatchObject([{ rule: "HOUR_MOVES", used: 10, asked: 1, limit: 10 }]);
    const fromA = recentMoves.map((move) => ({ ...move, from: "a" as InstanceId }));
    const instance = plan({ ...full(), recentMoves: fromA }, { movesPerInstance: 9 });
    expect(instance.moves).toHaveLength(1);
    expect(instance.report.blockedBy).toMatchObject([{ rule: "INSTANCE_MOVES", subject: "a", used: 9, limit: 9 }]);
  });

  it("limit moves by managed cluster and by share of workspaces", () => {
    const cluster = plan(withUnits(full(), { clusters: ["c1", "c1"] }), { movesPerCluster: 3 });
    expect(cluster.moves).toHaveLength(3);
    expect(cluster.report.blockedBy).toMatchObject([{ rule: "CLUSTER_MOVES", subject: "c1", used: 3, asked: 1, limit: 3 }]);
    // 305 workspaces, of which a hundredth may move.
    expect(plan(full(), { workspaces: 10_000 }).moves).toHaveLength(3);
    expect(plan(full(), { workspaces: 1 }).moves).toHaveLength(1);
  });
});

describe("a new instance", () => {
  const fleet = (goal = 60) =>
    aSnapshot(
      [aCandidate("new", { isFilling: true }), ...OTHERS.map((name) => aCandidate(name))],
      OTHERS.flatMap((name) => units(name, goal, 10)),
    );

  it("is filled almost to the mean, from instances above it, first with units that the ring would put there", () => {
    const { moves, report } = plan(fleet(), { movesPerPlan: 100, movesPerInstance: 100 });
    expect(report.mean).toBe(480_000);
    expect(moves).toHaveLength(45);
    expect(moves.every(({ to, reason }) => to === "new" && reason === "FILL")).toBe(true);
    expect(report.after.share).toBeLessThanOrEqual(600_000);
    expect(report.lowerBound).toMatchObject({ load: 190_000, moves: 0 });
    expect(report.moved).toBe(187_500);
    const ring = complete(ringOf([...OTHERS, "new"].map((id) => ({ id, weight: 1 }))));
    const natural = moves.filter(({ unit }) => ring.candidates(unit, 1)[0] === "new").length;
    expect(natural).toBeGreaterThan(30);
  });

  it("counts units that must leave elsewhere towards what it gets, and gets nothing while it is cordoned", () => {
    const leaving = (state: "ACTIVE" | "CORDONED") =>
      aSnapshot(
        [aCandidate("old", { state: "DRAINING" }), aCandidate("new", { state, isFilling: true }), aCandidate("other")],
        [...units("old", 30, 10), ...units("other", 30, 10)],
      );
    // Of 600 in all, 300 have to leave and the new one has to get 285 of its 300.
    expect(plan(leaving("ACTIVE")).report.lowerBound).toMatchObject({ load: 500_000, toTarget: 500_000, moves: 30 });
    expect(plan(leaving("CORDONED")).report.lowerBound).toMatchObject({ load: 500_000, toTarget: 500_000, moves: 30 });
  });

  it("is left alone if it has its share, does not count as new, or is not ACTIVE yet", () => {
    const change = (candidate: Partial<PlanSnapshot["candidates"][number]>) => ({
      ...fleet(),
      candidates: fleet().candidates.map((each) => (each.id === "new" ? { ...each, ...candidate } : each)),
    });
    expect(plan(change({ isFilling: false })).moves).toEqual([]);
    expect(plan(change({ state: "WARMING" })).moves).toEqual([]);
    const even = aSnapshot([aCandidate("new", { isFilling: true }), aCandidate("b")], [...units("new", 50, 10), ...units("b", 52, 10)]);
    expect(plan(even).moves).toEqual([]);
  });
});

describe("units that live together", () => {
  const together = { needs: { together: "t" } };

  it("come together where most of them are, and move as one", () => {
    const candidates = ["a", "b", "c"].map((name) => aCandidate(name));
    const held = [
      aUnit("u1", "a", 10, together),
      aUnit("u2", "b", 10, together),
      aUnit("u3", "b", 10, together),
      aUnit("u4", undefined, 10, together),
    ];
    const { moves } = plan(aSnapshot(candidates, held));
    expect(moves.map(({ unit, to }) => `${unit} ${to}`)).toEqual(["u1 b", "u4 b"]);
    const drained = aSnapshot(
      [aCandidate("a", { state: "DRAINING" }), aCandidate("b"), aCandidate("c")],
      [aUnit("u1", "a", 10, together), aUnit("u2", "a", 10, together)],
    );
    expect(new Set(plan(drained).moves.map(({ to }) => to)).size).toBe(1);
    expect(plan(drained).moves).toHaveLength(2);
  });

  it("go elsewhere as a whole if there is no room for all of them where most are", () => {
    const candidates = ["a", "b"].map((name) => aCandidate(name));
    const held = [aUnit("rest", "a", 600), aUnit("u1", "a", 200, together), aUnit("u2", undefined, 300, together)];
    expect(plan(aSnapshot(candidates, held)).moves.map(({ unit, to }) => `${unit} ${to}`)).toEqual(["u1 b", "u2 b"]);
  });
});

describe("units that live apart", () => {
  it("are the units of a workspace: one of two on the same instance leaves", () => {
    const workspaceId = "w" as WorkspaceId;
    const held = [aUnit("u1", "a", 10, { workspaceId }), aUnit("u2", "a", 10, { workspaceId })];
    const { moves } = plan(aSnapshot([aCandidate("a"), aCandidate("b")], held));
    expect(moves).toMatchObject([{ from: "a", to: "b", reason: "FORCED" }]);
  });
});

describe("approval", () => {
  it("is asked for above 5 % of the load or 10 % of the workspaces, and not for first placements", () => {
    const capacity = loadVector(() => 100_000_000);
    const candidates = [aCandidate("a", { state: "DRAINING", capacity }), ...OTHERS.map((name) => aCandidate(name, { capacity }))];
    const moving = (load: number, moved: number, others: number) =>
      plan(aSnapshot(candidates, [...units("a", moved, load), ...units("b", others, 10_000)])).report.approval;
    expect(moving(5_000, 6, 100)).toEqual([]);
    expect(moving(10_000, 6, 94)).toEqual(["LOAD"]);
    expect(moving(1_000, 6, 50)).toEqual(["WORKSPACES"]);
    expect(plan(aSnapshot(candidates, [aUnit("u", undefined, 100)])).report.approval).toEqual([]);
  });
});
