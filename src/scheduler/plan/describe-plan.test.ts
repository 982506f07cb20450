import { describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import type { InstanceId, PlanId, UnitId } from "../../domain/ids.ts";
import { loadVector, ZERO_LOAD } from "../../domain/load.ts";
import type { MoveReason, PlanGoal, StoredPlan } from "../../domain/plan.ts";
import { NO_CONSTRAINTS } from "../eligibility.ts";
import { describePlan } from "./describe-plan.ts";
import { causeText, describeMetrics } from "./reason-text.ts";
import type { Cause, MoveRecord } from "./record.ts";
import type { PlanDocument } from "./report.ts";

const AT = millis(1_767_225_600_000);
const id = (name: string) => name as InstanceId;
const nameOf = (each: string) => each.toUpperCase();
const full = { load: ZERO_LOAD, capacity: loadVector(() => 1_000), share: 950_000, limit: 900_000 };

const CAUSES: readonly (readonly [Cause, string])[] = [
  [{ rule: "UNPLACED" }, "it has no instance yet"],
  [{ rule: "OWNER_GONE", instance: id("a"), known: [] }, "A is gone"],
  [{ rule: "SPREAD", instances: [id("a"), id("b")] }, "its group is on A, B and lives together"],
  [
    {
      rule: "MAY_NOT_STAY",
      constraints: NO_CONSTRAINTS,
      offer: { id: id("a"), state: "DRAINING" },
      ineligible: { instance: id("a"), rule: "STATE", state: "DRAINING" },
    },
    "it may not stay: it is DRAINING",
  ],
  [{ rule: "ABOVE", instance: id("a"), ...full, forMs: 3_660_000, persistMs: 3_600_000 }, "A was at 95 %, above 90 % for 61 min"],
  [{ rule: "OVERLOADED", instance: id("a"), ...full }, "A is overloaded at 95 % and comes down to 90 %"],
  [{ rule: "BELOW", instance: id("a"), ...full, share: 100_000 }, "A is new, at 10 % of the 90 % it should take"],
];

const record = (unit: string, reason: MoveReason, cause: Cause, chosen: string | undefined): MoveRecord => ({
  ...{ units: [unit as UnitId], reason, cause },
  question: {
    key: unit,
    load: { ...ZERO_LOAD, applications: 3_000 },
    constraints: NO_CONSTRAINTS,
    preferred: undefined,
    bounds: [1],
    views: [],
    walk: 0,
  },
  answer: {
    chosen: chosen as InstanceId | undefined,
    bound: undefined,
    rule: chosen === undefined ? "NOTHING_FITS" : "NAMED",
    refusals: [{ instance: id("c"), rule: "STATE", state: "CORDONED" }],
  },
});

const above = CAUSES[4]?.[0] as Cause;
const DOCUMENT: PlanDocument = {
  ...{ class: "eu/shared/public", at: AT, metrics: { kind: "trusted" }, dimension: "applications", mean: 500_000, bound: 600_000 },
  ...{ shedTo: 550_000, before: { worst: id("a"), share: 950_000, overMean: 1_900_000, above: 1 } },
  after: { worst: undefined, share: 0, overMean: 0, above: 0 },
  moves: { FORCED: 1, HOT: 0, SHED: 1, SWAP: 0, FILL: 0 },
  ...{ moved: 120_000, lowerBound: { load: 100_000, toTarget: 110_000, moves: 1 }, workspaces: { moved: 2, of: 9 }, approval: ["LOAD"] },
  blockedBy: [
    { rule: "METRICS", verdict: { kind: "distrusted", rule: "NONE" } },
    { rule: "FREEZE", reason: "night: quiet", at: AT, until: millis(AT + 60_000) },
    { rule: "BREAKER", failed: 3, of: 20, limit: 3 },
    { rule: "PERSISTENCE", instance: id("a"), forMs: 60_000, persistMs: 3_600_000 },
    { rule: "PLAN_MOVES", subject: "", used: 20, asked: 1, limit: 20 },
    { rule: "INSTANCE_MOVES", subject: "b", used: 25, asked: 2, limit: 25 },
  ],
  unplaceable: [record("u-4", "FORCED", { rule: "UNPLACED" }, undefined)],
  withoutCandidate: [record("u-5", "SHED", above, undefined)],
  left: {
    shown: [
      { unit: "u-1" as UnitId, instance: id("a"), at: AT, rule: "COOL_DOWN", until: millis(AT + 60_000) },
      { unit: "u-6" as UnitId, instance: id("b"), at: AT, rule: "MOVING", until: undefined },
      { unit: "u-1" as UnitId, instance: id("b"), at: AT, rule: "DO_NOT_MOVE", until: undefined },
      { unit: "u-1" as UnitId, instance: id("b"), at: AT, rule: "FAILED_BEFORE", until: undefined },
    ],
    count: 7,
  },
  needsCapacity: [id("a")],
  names: { units: { "u-1": "shop", "u-2": "bank" }, instances: { a: "standard-1", b: "standard-2" } },
  deployed: ["u-2"],
};

function aPlan(over: Partial<StoredPlan> = {}, document: Partial<PlanDocument> = {}): StoredPlan {
  return {
    ...{ id: "p-1" as PlanId, class: "eu/shared/public", goal: "rebalance", subject: "", snapshotHash: "s", planHash: "p", actor: "otto" },
    ...{ createdAt: AT, expiresAt: millis(AT + 3_600_000), appliedAt: undefined },
    moves: [
      { unit: "u-1" as UnitId, from: undefined, to: id("b"), epoch: 0, reason: "FORCED" },
      { unit: "u-2" as UnitId, from: id("a"), to: id("b"), epoch: 7, reason: "SHED" },
    ],
    records: [record("u-2", "SHED", above, "b")],
    report: { ...DOCUMENT, ...document } as unknown as StoredPlan["report"],
    ...over,
  };
}

describe("a plan as people read it", () => {
  it("says what moves and why, what it costs, what held it back, and who was left", () => {
    expect(describePlan(aPlan())).toEqual([
      "plan p-1: evening out in class eu/shared/public, asked for by otto at 2026-01-01T00:00:00Z",
      "  `argosy apply p-1` carries it out until 2026-01-01T01:00:00Z, by an approver (it moves much: load)",
      "  metrics are trusted",
      "  mean use 50 % in applications; too full above 60 %, sheds to 55 %",
      "  before: fullest standard-1 at 95 % (1.9 × the mean), 1 too full; after: no instance is ACTIVE",
      "  2 moves (1 FORCED, 1 SHED) of 12 % of the load and 2 of 9 workspaces",
      "  at least 1 move of 10 % was needed; to where it sheds to, 11 %",
      "moves",
      "  shop: nowhere → standard-2, FORCED",
      "  bank: standard-1 → standard-2, SHED, takes a live move",
      "    standard-1 was at 95 %, above 90 % for 61 min; moves 3 applications",
      "    refused c: it is CORDONED",
      "blocked by",
      "  METRICS: metrics are not trusted, so nothing moves that need not: no instance has reported yet",
      "  FREEZE: night: quiet, until 2026-01-01T00:01:00Z",
      "  BREAKER: 3 of the last 20 moves failed, 3 are too many",
      "  PERSISTENCE: standard-1 has been too full for 1 min, 60 min are needed",
      "  PLAN_MOVES: 20 used, 1 more asked for, 20 allowed",
      "  INSTANCE_MOVES of standard-2: 25 used, 2 more asked for, 25 allowed",
      "no instance has room for",
      "  u-4: it has no instance yet",
      "    refused c: it is CORDONED",
      "  u-5: standard-1 was at 95 %, above 90 % for 61 min",
      "    refused c: it is CORDONED",
      "looked at and left (7)",
      "  shop stays on standard-1: it was moved not long ago until 2026-01-01T00:01:00Z",
      "  u-6 stays on standard-2: it is being moved",
      "  shop stays on standard-2: it is held",
      "  shop stays on standard-2: a move of it failed not long ago",
      "needs more capacity",
      "  standard-1 stays too full: ask for more instances of its pool in fleet.yaml",
    ]);
  });

  it("leaves out what there is nothing of", () => {
    const nothing = {
      blockedBy: [],
      unplaceable: [],
      withoutCandidate: [],
      left: { shown: [], count: 0 },
      needsCapacity: [],
      approval: [],
    };
    const even = { worst: id("a"), share: 500_000, overMean: 0, above: 0 };
    const lines = describePlan(aPlan({ moves: [], records: [] }, { ...nothing, before: even, after: even }));
    expect(lines.slice(1)).toEqual([
      "  nothing to carry out",
      "  metrics are trusted",
      "  mean use 50 % in applications; too full above 60 %, sheds to 55 %",
      "  before: fullest standard-1 at 50 %, 0 too full; after: fullest standard-1 at 50 %, 0 too full",
      "  moves nothing",
    ]);
  });

  it.each<[PlanGoal, string, string]>([
    ["rebalance", "evening out", "`argosy apply p-1` carries it out until 2026-01-01T01:00:00Z"],
    ["drain", "emptying it", "`argosy apply p-1` carries it out until 2026-01-01T01:00:00Z"],
    ["add", "what one more instance of pool it would take", "about a fleet that is not there: it is never carried out; change fleet.yaml"],
    ["remove", "what would follow if it were gone", "about a fleet that is not there: it is never carried out; change fleet.yaml"],
  ])("says of the goal %s what it is and how it is carried out", (goal, what, how) => {
    const lines = describePlan(aPlan({ goal, subject: "it" }, { approval: [] }));
    expect(lines[0]).toBe(`plan p-1: ${what} in class eu/shared/public, asked for by otto at 2026-01-01T00:00:00Z`);
    expect(lines[1]).toBe(`  ${how}`);
  });

  it("says when it was carried out", () => {
    expect(describePlan(aPlan({ appliedAt: AT }, { approval: ["LOAD", "WORKSPACES"] }))[1]).toBe(
      "  carried out at 2026-01-01T00:00:00Z; `argosy apply p-1` carries it out until 2026-01-01T01:00:00Z, by an approver (it moves much: load, workspaces)",
    );
    const approvalLimits = { loadShare: 50_000, applications: 50, workspaceShare: 100_000, workspaces: 5 };
    const recorded = { approvalLimits, movedApplications: 72, moved: 600_000, workspaces: { moved: 6, of: 10 } };
    expect(describePlan(aPlan({}, { ...recorded, approval: ["LOAD", "WORKSPACES"] }))[1]).toContain(
      "by an approver (it moves much: 72 applications with 60 % of the load, an operator may move 50, or 5 %; 6 of 10 workspaces, an operator may move 5, or 10 %)",
    );
  });

  it.each(CAUSES)("puts a cause into words", (cause, text) => {
    expect(causeText(cause, nameOf)).toBe(text);
  });

  it("says why metrics are not trusted", () => {
    const nobody = "metrics are not trusted, so nothing moves that need not";
    const said = (verdict: Parameters<typeof describeMetrics>[0]) => describeMetrics(verdict);
    expect(said({ kind: "trusted" })).toBe("metrics are trusted");
    expect(said({ kind: "distrusted", rule: "IMPLAUSIBLE", subject: "a", dimension: "milliCpu" })).toBe(
      `${nobody}: a reports a load in milliCpu that cannot be`,
    );
    expect(said({ kind: "distrusted", rule: "STALE", newest: AT, ageMs: 720_000, limitMs: 600_000 })).toBe(
      `${nobody}: the newest is 12 min old, 10 min are allowed`,
    );
    expect(said({ kind: "distrusted", rule: "PARTIAL", reporting: 1, of: 2, limit: 950_000 })).toBe(
      `${nobody}: 1 of 2 instances report, 95 % must`,
    );
    const jump = { kind: "distrusted", rule: "JUMP", limit: 300_000 } as const;
    expect(said({ ...jump, dimension: "milliCpu", was: 1, is: 9 })).toBe(
      `${nobody}: the total went from 1 to 9 milliCpu, a change of more than 30 %`,
    );
    expect(said({ ...jump, dimension: "applications", was: 24_000, is: 4_000, until: AT })).toBe(
      `${nobody}: the total went from 24 to 4 applications, a change of more than 30 %; it is believed from 2026-01-01T00:00:00Z on if it stays near that`,
    );
  });
});
