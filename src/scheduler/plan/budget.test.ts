import { describe, expect, it } from "vitest";
import type { InstanceId, UnitId, WorkspaceId } from "../../domain/ids.ts";
import { aSnapshot, aUnit } from "../testing/snapshots.ts";
import { type AskedMoves, openBudget } from "./budget.ts";
import { DEFAULT_PLANNER_POLICY, type PlannerPolicy } from "./planner-policy.ts";
import type { PlanSnapshot, PlanUnit } from "./snapshot.ts";

const LOOSE: PlannerPolicy["budgets"] = {
  ...{ movesPerPlan: 90, movesPerHour: 90, movesPerInstance: 90, movesPerCluster: 90, workspaces: 1_000_000 },
  ...{ leastWorkspaces: 1, hotFactor: 2, hotWorkspaces: 0, failures: 3, ofLast: 20 },
};
const UNITS = Array.from({ length: 10 }, (_, index) => aUnit(`u${index}`, "a", 1, { clusters: ["c", "c"] }));
const [A, B] = ["a", "b"] as unknown as [InstanceId, InstanceId];
const open = (budgets: Partial<PlannerPolicy["budgets"]>, more: Partial<PlanSnapshot> = {}, units: readonly PlanUnit[] = UNITS) =>
  openBudget(aSnapshot([], units, more), { ...DEFAULT_PLANNER_POLICY, budgets: { ...LOOSE, ...budgets } });
const asked = (first: number, count = 1, from = A, to = B): readonly AskedMoves[] => [
  { units: UNITS.slice(first, first + count), from, to },
];
const recent = (unit: string, from = A, to = B) => ({ unit: unit as UnitId, from, to });

describe("what moves use up", () => {
  it.each([
    ["PLAN_MOVES", "", { movesPerPlan: 3 }],
    ["HOUR_MOVES", "", { movesPerHour: 3 }],
    ["DAY_MOVES", "", { movesPerDay: 3 }],
    ["INSTANCE_MOVES", "a", { movesPerInstance: 3 }],
    ["CLUSTER_MOVES", "c", { movesPerCluster: 3 }],
    ["WORKSPACES", "", { workspaces: 390_000 }],
  ] as const)("is counted against %s of %j", (rule, subject, budgets) => {
    const budget = open(budgets);
    expect(budget.whyNot(asked(0, 3), "voluntary")).toBeUndefined();
    expect(budget.whyNot(asked(0, 4), "voluntary")).toEqual({ rule, subject, used: 0, asked: 4, limit: 3 });
    budget.spend(asked(0, 2));
    expect(budget.whyNot(asked(2), "voluntary")).toBeUndefined();
    expect(budget.whyNot(asked(2, 2), "voluntary")).toEqual({ rule, subject, used: 2, asked: 2, limit: 3 });
    expect(budget.whyNot(asked(2, 4), "hot")).toBeUndefined();
    expect(budget.whyNot(asked(2, 5), "hot")).toEqual({ rule, subject, used: 2, asked: 5, limit: 6 });
  });

  it("is counted against the limit of a day after the moves of the last day, and the limit of an hour comes first", () => {
    const budget = open({ movesPerDay: 3 }, { movesOfDay: 2, recentMoves: [recent("u8"), recent("u9")] });
    expect(budget.whyNot(asked(0, 2), "voluntary")).toEqual({ rule: "DAY_MOVES", subject: "", used: 2, asked: 2, limit: 3 });
    budget.spend(asked(0));
    expect(budget.spent("voluntary")).toMatchObject({ rule: "DAY_MOVES", used: 3 });
    expect(budget.spent("hot")).toBeUndefined();
    expect(open({ movesPerDay: 0, movesPerHour: 0 }).spent("voluntary")).toMatchObject({ rule: "HOUR_MOVES" });
  });

  it("is counted on both instances in order of name, and on the fleet before either", () => {
    expect(open({ movesPerInstance: 0 }).whyNot(asked(0, 1, B, A), "voluntary")).toMatchObject({ rule: "INSTANCE_MOVES", subject: "a" });
    const budget = open({ movesPerInstance: 1 });
    budget.spend(asked(0, 1, "z" as InstanceId, B));
    expect(budget.whyNot(asked(1), "voluntary")).toMatchObject({ subject: "b", used: 1 });
    expect(open({ movesPerInstance: 0, movesPerHour: 0 }).whyNot(asked(0), "voluntary")).toMatchObject({ rule: "HOUR_MOVES" });
  });

  it("counts two that change places together", () => {
    const pair = [...asked(0, 1, A, B), ...asked(1, 1, B, A)];
    expect(open({ movesPerInstance: 1 }).whyNot(pair, "voluntary")).toEqual({
      ...{ rule: "INSTANCE_MOVES", subject: "a", used: 0, asked: 2, limit: 1 },
    });
    expect(open({ movesPerPlan: 1 }).whyNot(pair, "voluntary")).toMatchObject({ rule: "PLAN_MOVES", asked: 2 });
  });

  it("counts a workspace once, however many of its units move, and lets one move in any fleet", () => {
    const parts = [0, 1, 2].map((index) => aUnit(`p${index}`, "a", 1, { workspaceId: "w" as WorkspaceId }));
    const budget = open({ workspaces: 1 }, {}, [...UNITS, ...parts]);
    budget.spend([{ units: parts.slice(0, 2), from: A, to: B }]);
    expect(budget.whyNot([{ units: parts.slice(2), from: A, to: B }], "voluntary")).toBeUndefined();
    expect(budget.whyNot(asked(0), "voluntary")).toEqual({ rule: "WORKSPACES", subject: "", used: 1, asked: 1, limit: 1 });
  });

  it("lets a few workspaces leave an overloaded instance in any fleet, and only multiplies every other limit", () => {
    const blockedBy = (urgency: "voluntary" | "hot", count: number, hotWorkspaces = 5) =>
      open({ workspaces: 100_000, hotWorkspaces }).whyNot(asked(0, count), urgency);
    expect(blockedBy("hot", 5)).toBeUndefined();
    expect(blockedBy("hot", 6)).toEqual({ rule: "WORKSPACES", subject: "", used: 0, asked: 6, limit: 5 });
    expect(blockedBy("hot", 2, 1)).toBeUndefined();
    expect(blockedBy("hot", 3, 1)).toMatchObject({ limit: 2 });
    expect(blockedBy("voluntary", 2)).toMatchObject({ limit: 1 });
    expect(open({ movesPerPlan: 1, hotWorkspaces: 5 }).whyNot(asked(0, 3), "hot")).toMatchObject({ rule: "PLAN_MOVES", limit: 2 });
  });

  it("includes the moves of the last hour, except in the limit of one plan", () => {
    const recentMoves = [recent("u0"), recent("u1"), recent("gone", B, A)];
    const blockedBy = (budgets: Partial<PlannerPolicy["budgets"]>, first = 5) =>
      open(budgets, { recentMoves }).whyNot(asked(first), "voluntary");
    expect(blockedBy({ movesPerPlan: 1 })).toBeUndefined();
    expect(blockedBy({ movesPerHour: 3 })).toMatchObject({ used: 3 });
    expect(blockedBy({ movesPerInstance: 3 })).toMatchObject({ subject: "a", used: 3 });
    expect(blockedBy({ movesPerCluster: 2 })).toMatchObject({ subject: "c", used: 2 });
    expect(blockedBy({ workspaces: 300_000 })).toMatchObject({ used: 3, limit: 3 });
    expect(blockedBy({ workspaces: 300_000 }, 0)).toBeUndefined();
  });

  it("is used up when not one more unit may move", () => {
    const full = (budgets: Partial<PlannerPolicy["budgets"]>, urgency: "voluntary" | "hot") => {
      const budget = open(budgets);
      budget.spend(asked(0, 2));
      return budget.spent(urgency);
    };
    expect(full({ movesPerPlan: 2 }, "voluntary")).toEqual({ rule: "PLAN_MOVES", subject: "", used: 2, asked: 1, limit: 2 });
    expect(full({ movesPerHour: 2 }, "voluntary")).toEqual({ rule: "HOUR_MOVES", subject: "", used: 2, asked: 1, limit: 2 });
    expect(full({ movesPerHour: 2, movesPerPlan: 2 }, "hot")).toBeUndefined();
    expect(full({ movesPerHour: 3, movesPerPlan: 3, movesPerInstance: 0, workspaces: 0 }, "voluntary")).toBeUndefined();
  });
});

describe("the breaker", () => {
  const outcomes = (...ends: readonly ("done" | "failed")[]) => open({ failures: 2, ofLast: 3 }, { outcomes: ends }).gate("voluntary");

  it("opens for failures among the last moves, whatever was before", () => {
    expect(outcomes("failed", "done", "failed", "failed")).toEqual({ rule: "BREAKER", failed: 2, of: 3, limit: 2 });
    expect(outcomes("failed", "failed")).toEqual({ rule: "BREAKER", failed: 2, of: 2, limit: 2 });
    expect(outcomes("failed", "done", "done", "failed")).toBeUndefined();
  });
});
