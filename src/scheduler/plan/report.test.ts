import { describe, expect, it } from "vitest";
import type { InstanceId } from "../../domain/ids.ts";
import { loadVector, ZERO_LOAD } from "../../domain/load.ts";
import { WHOLE } from "../policy.ts";
import { createRingMemo } from "../ring-memo.ts";
import { aCandidate, aSnapshot, aUnit, LONG_ABOVE, NOON, units } from "../testing/snapshots.ts";
import { planMoves } from "./plan-moves.ts";
import { DEFAULT_PLANNER_POLICY } from "./planner-policy.ts";
import type { PlanSnapshot } from "./snapshot.ts";

const ringOf = createRingMemo()("eu/shared/public");
const budgets = { ...DEFAULT_PLANNER_POLICY.budgets, workspaces: WHOLE, movesPerPlan: 100, movesPerInstance: 100, movesPerHour: 100 };
const report = (snapshot: PlanSnapshot, approval = DEFAULT_PLANNER_POLICY.approval) =>
  planMoves(snapshot, { policy: { ...DEFAULT_PLANNER_POLICY, budgets, approval }, ringOf }).report;

describe("how even a plan says its class is", () => {
  it("goes by ACTIVE instances: the fullest, how far it is above the mean, and how many are above the bound", () => {
    const candidates = [aCandidate("a"), aCandidate("b"), aCandidate("c"), aCandidate("d", { state: "CORDONED" })];
    const held = [...units("a", 80, 10), ...units("b", 70, 10), ...units("d", 90, 10)];
    expect(report(aSnapshot(candidates, held)).before).toEqual({ worst: "a", share: 800_000, overMean: 1_000_000, above: 0 });
    // The mean of four is 45 %, the bound is 60 %.
    const four = [aCandidate("a"), aCandidate("b"), aCandidate("c"), aCandidate("d")];
    const uneven = [...units("a", 70, 10), ...units("b", 50, 10), ...units("c", 61, 10)];
    expect(report(aSnapshot(four, uneven)).before).toEqual({ worst: "a", share: 700_000, overMean: 1_546_961, above: 2 });
  });

  it("names the first of those that are equally full, and nobody where nobody is ACTIVE", () => {
    expect(report(aSnapshot([aCandidate("b"), aCandidate("a")], [...units("a", 1, 10), ...units("b", 1, 10)])).before.worst).toBe("a");
    const cordoned = report(aSnapshot([aCandidate("a", { state: "CORDONED" })], units("a", 1, 10)));
    expect(cordoned.before).toMatchObject({ worst: undefined, share: 0, above: 0 });
  });
});

describe("what a plan says that it moves", () => {
  const candidates = [aCandidate("a", { state: "DRAINING" }), aCandidate("b")];

  it("is what leaves an instance: of all load, and of all workspaces", () => {
    const held = [aUnit("u", "a", 30), aUnit("waiting", undefined, 20), ...units("b", 5, 10)];
    expect(report(aSnapshot(candidates, held))).toMatchObject({
      ...{ class: "eu/shared/public", at: NOON, dimension: "applications", moved: 300_000, workspaces: { moved: 1, of: 7 } },
      ...{ moves: { FORCED: 2, HOT: 0, SHED: 0, SWAP: 0, FILL: 0 }, lowerBound: { load: 500_000, toTarget: 500_000, moves: 2 } },
    });
    expect(report(aSnapshot([], []))).toMatchObject({ moved: 0, workspaces: { moved: 0, of: 0 }, lowerBound: { load: 0, moves: 0 } });
  });

  it("counts a group by its load and those of its workspaces that move", () => {
    const together = { needs: { together: "t" } };
    const held = [aUnit("u", "b", 10, together), aUnit("v", undefined, 10, together), aUnit("w", "c", 10, together), ...units("b", 7, 10)];
    const { moved, workspaces, moves } = report(aSnapshot([aCandidate("b"), aCandidate("c")], held));
    expect({ moved, workspaces, moves }).toMatchObject({ moved: 300_000, workspaces: { moved: 1, of: 10 }, moves: { FORCED: 2 } });
  });

  it("needs approval above, not at, a share of the load or of the workspaces", () => {
    const held = [aUnit("u", "a", 30), ...units("b", 4, 30)];
    const asked = (loadShare: number, workspaceShare: number) =>
      report(aSnapshot(candidates, held), { loadShare, workspaceShare, applications: 0, workspaces: 0 }).approval;
    expect(asked(200_000, 200_000)).toEqual([]);
    expect(asked(199_999, 200_000)).toEqual(["LOAD"]);
    expect(asked(200_000, 199_999)).toEqual(["WORKSPACES"]);
    expect(asked(0, 0)).toEqual(["LOAD", "WORKSPACES"]);
  });

  it("needs approval above, not at, a number of applications or of workspaces, whatever share they are", () => {
    const held = [...units("a", 3, 20_000), ...units("b", 4, 20_000)];
    const roomy = [
      aCandidate("a", { state: "DRAINING", capacity: loadVector(() => 1_000_000) }),
      aCandidate("b", { capacity: loadVector(() => 1_000_000) }),
    ];
    const asked = (applications: number, workspaces: number) => {
      const { approval, movedApplications } = report(aSnapshot(roomy, held), { loadShare: 0, workspaceShare: 0, applications, workspaces });
      return { approval, movedApplications };
    };
    expect(asked(60, 3)).toEqual({ approval: [], movedApplications: 60 });
    expect(asked(59, 3).approval).toEqual(["LOAD"]);
    expect(asked(60, 2).approval).toEqual(["WORKSPACES"]);
  });

  it("of ten workspaces may empty one of two instances without approval, and not move more than that", () => {
    const roomy = (name: string, state: "ACTIVE" | "DRAINING") => aCandidate(name, { state, capacity: loadVector(() => 1_000_000) });
    const draining = (on: number) =>
      report(aSnapshot([roomy("a", "DRAINING"), roomy("b", "ACTIVE")], [...units("a", on, 3_000), ...units("b", 10 - on, 3_000)]));
    for (const on of [1, 3, 5]) expect(draining(on)).toMatchObject({ workspaces: { moved: on, of: 10 }, approval: [] });
    expect(draining(6)).toMatchObject({ workspaces: { moved: 6, of: 10 }, approval: ["WORKSPACES"] });
  });

  it("is reckoned in the dimension that is scarcest", () => {
    const cpu = (name: string, owner: string, milliCpu: number) =>
      aUnit(name, owner, 1, { load: { ...ZERO_LOAD, applications: 1, milliCpu } });
    const { dimension, moved } = report(aSnapshot(candidates, [cpu("u", "a", 100), cpu("v", "b", 300)]));
    expect([dimension, moved]).toEqual(["milliCpu", 250_000]);
  });
});

describe("what a plan says that it could not do", () => {
  const unit = (name: string, owner: string | undefined, load: number) => aUnit(name, owner, load);

  it("is who has no seat, those that must have one apart from those that should", () => {
    const candidates = [aCandidate("a", LONG_ABOVE), aCandidate("b"), aCandidate("c"), aCandidate("old", { state: "DRAINING" })];
    const held = [unit("u", "a", 700), unit("v", "b", 550), unit("w", "c", 550), unit("x", "old", 560), unit("y", undefined, 570)];
    const { unplaceable, withoutCandidate, needsCapacity } = report(aSnapshot(candidates, held));
    expect(unplaceable.flatMap((record) => record.units).toSorted()).toEqual(["x", "y"]);
    expect(withoutCandidate.flatMap((record) => record.units)).toEqual([]);
    expect(needsCapacity).toEqual([]);
  });

  it("is that an instance needs capacity only while it stays above the bound", () => {
    const candidates = [aCandidate("a", LONG_ABOVE), aCandidate("b"), aCandidate("c")];
    const stuck = [unit("u", "a", 700), unit("v", "b", 550), unit("w", "c", 550)];
    expect(report(aSnapshot(candidates, stuck))).toMatchObject({ needsCapacity: ["a"], after: { above: 1 } });
    const helped = [unit("u", "a", 600), unit("u2", "a", 100), unit("v", "b", 550), unit("w", "c", 400)];
    expect(report(aSnapshot(candidates, helped)).needsCapacity).toEqual([]);
  });

  it("is who was looked at and left, by name, the first fifty of them, and every brake by name", () => {
    const cooling = units("a", 85, 10, { movedAt: NOON }).toReversed();
    const others = ["b", "c"].flatMap((name) => units(name, 30, 10));
    const { left } = report(aSnapshot([aCandidate("a", LONG_ABOVE), aCandidate("b"), aCandidate("c")], [...cooling, ...others]));
    expect([left.count, left.shown.length, left.shown[0]?.unit, left.shown[49]?.unit]).toEqual([85, 50, "a-000", "a-049"]);
    const candidates = ["d", "c", "a", "b"].map((name) => aCandidate(name));
    const held = [...units("a", 85, 10), ...units("c", 85, 10), ...units("b", 10, 10), ...units("d", 10, 10)];
    const named = report(aSnapshot(candidates, held)).blockedBy.map((blockedBy) =>
      "instance" in blockedBy ? (blockedBy.instance as InstanceId) : "",
    );
    expect(named).toEqual(["a", "c"]);
  });
});
