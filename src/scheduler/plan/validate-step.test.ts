import { describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import type { InstanceId, PlanId } from "../../domain/ids.ts";
import { loadVector } from "../../domain/load.ts";
import type { PlannedMove } from "../../domain/plan.ts";
import { aFacts, aRow, aUnitRow, unitRows } from "../testing/facts.ts";
import { HOUR_MS, NOON } from "../testing/snapshots.ts";
import type { PlanningFacts } from "./assemble.ts";
import { makePlan } from "./make-plan.ts";
import { DEFAULT_PLANNER_POLICY } from "./planner-policy.ts";
import { storedPlanOf } from "./stored-plan.ts";
import { kindOf, moveDecision, openCarryingOut } from "./validate-step.ts";

const [A, B, C] = [aRow("a"), aRow("b"), aRow("c")];
const X = aUnitRow("x", "a", 100);
const move = (over: Partial<PlannedMove> = {}): PlannedMove => ({
  unit: X.unit.id,
  from: A.id,
  to: B.id,
  epoch: 7,
  reason: "SHED",
  ...over,
});
const judge = (facts: PlanningFacts, step = move()) => openCarryingOut(facts, NOON).judge(step);
const said = { actor: "otto", reason: "test", at: NOON };
const hold = { pin: undefined, hold: { ...said, until: millis(NOON + HOUR_MS) } };
const freeze = { ...said, name: "f", schedule: undefined, durationMs: HOUR_MS };

describe("a step of a plan that is validated again", () => {
  it("may be made while the rows are as they were", () => {
    expect(judge(aFacts([A, B], [X]))).toEqual({
      ...{ kind: "go", from: A.id, ceiling: loadVector(() => 900), isLive: false, source: "ACTIVE" },
    });
  });

  it("has to find an entry at its target where each workspace has one, and leaves none for the next", () => {
    const capacity = { ...loadVector(() => 1_000), clusterEntries: 2 };
    const apart = aRow("b", { entries: "per-workspace", capacity });
    const Y = aUnitRow("y", "a", 100);
    const facts = aFacts([A, apart], [X, Y]);
    expect(judge(aFacts([A, { ...apart, capacity: { ...capacity, clusterEntries: 1 } }], [X]))).toMatchObject({ kind: "dropped" });
    const carrying = openCarryingOut(facts, NOON);
    expect(carrying.judge(move())).toMatchObject({ kind: "go", ceiling: { clusterEntries: 1 } });
    carrying.made(move());
    expect(carrying.judge(move({ unit: Y.unit.id }))).toMatchObject({ kind: "dropped", why: expect.stringContaining("clusterEntries") });
    expect(openCarryingOut(aFacts([A, { ...apart, entries: "shared" }], [X, Y]), NOON).judge(move())).toMatchObject({ kind: "go" });
  });

  it("may be made, each of a plan that fills instances with an entry for each workspace", () => {
    const capacity = { ...loadVector(() => 1_000), clusterEntries: 5 };
    const apart = ["b", "c"].map((name) => aRow(name, { entries: "per-workspace", capacity }));
    const facts = aFacts([A, ...apart], unitRows("a", 10, 10));
    const { moves } = makePlan(facts, { kind: "drain", instance: A }, { at: NOON }).plan;
    const carrying = openCarryingOut(facts, NOON);
    for (const step of moves) {
      expect(carrying.judge(step)).toMatchObject({ kind: "go" });
      carrying.made(step);
    }
    // Nine tenths of five, on each of the two.
    expect(moves).toHaveLength(8);
  });

  it("counts as made if the unit is there already, whoever moved it", () => {
    expect(judge(aFacts([A, B], [{ ...X, unit: { ...X.unit, owner: B.id, epoch: 9 } }]))).toEqual({ kind: "there" });
  });

  it("is not tried again soon after a move of the unit to there failed, and says so", () => {
    const failure = (hoursAgo: number) => ({ failures: [{ unit: X.unit.id, to: B.id, at: millis(NOON - hoursAgo * HOUR_MS) }] });
    const why = "b: FAILED_BEFORE: a move of it there failed not long ago";
    expect(judge(aFacts([A, B], [X], failure(5)))).toEqual({ kind: "dropped", why });
    expect(judge(aFacts([A, B], [X], failure(6)))).toMatchObject({ kind: "go" });
    expect(judge(aFacts([A, B, C], [X], failure(5)), move({ to: C.id }))).toMatchObject({ kind: "go" });
  });

  it("takes a live move while something of the unit is deployed", () => {
    expect(judge(aFacts([A, B], [{ ...X, isDeployed: true }]))).toMatchObject({ kind: "go", isLive: true });
  });

  it.each([
    ["rebalance", "SHED", "ACTIVE", "voluntary"],
    ["rebalance", "HOT", "DRAINING", "voluntary"],
    ["rebalance", "FORCED", "ACTIVE", "voluntary"],
    ["rebalance", "FORCED", "DRAINING", "drain"],
    ["drain", "FORCED", "ACTIVE", "drain"],
    ["rebalance", "FORCED", "FAILED", "evacuation"],
  ] as const)("of a %s that is %s and leaves an instance that is %s is of kind %s", (goal, reason, state, kind) => {
    expect(kindOf(goal, reason, state)).toBe(kind);
  });

  it.each([
    ["the unit is gone", aFacts([A, B], []), "it is gone"],
    ["the unit was moved", aFacts([A, B], [{ ...X, unit: { ...X.unit, epoch: 8 } }]), "it was moved since, and has epoch 8"],
    ["the unit is being moved", aFacts([A, B], [{ ...X, movingTo: B.id }]), "it is being moved to b"],
    [
      "what is being moved to the target fills it",
      aFacts([A, B], [X, ...unitRows("a", 9, 100).map((row) => ({ ...row, movingTo: B.id }))]),
      "b: it would be at 100 % in applications, the bound was 90 %",
    ],
    ["the unit lives elsewhere", aFacts([A, B, C], [{ ...X, unit: { ...X.unit, owner: C.id } }]), "it lives on c by now"],
    ["the unit lives nowhere", aFacts([A, B], [{ ...X, unit: { ...X.unit, owner: undefined } }]), "it lives nowhere by now"],
    ["the target is gone", aFacts([A], [X]), "the instance it should go to is gone"],
    ["the target was cordoned", aFacts([A, aRow("b", { state: "CORDONED" })], [X]), "b: it is CORDONED"],
    ["the target filled up", aFacts([A, B], [X, ...unitRows("b", 9, 100)]), "b: it would be at 100 % in applications, the bound was 90 %"],
    [
      "the workspace was pinned",
      aFacts([A, B], [{ ...X, directive: { pin: { ...said, kind: "instance", instance: A.id }, hold: undefined } }]),
      "b: the workspace is pinned to a",
    ],
    ["the workspace is held", aFacts([A, B], [{ ...X, directive: hold }]), "it is held until 2023-11-14T23:13:20Z"],
    ["a freeze holds", aFacts([A, B], [X], { freezes: [freeze] }), "a freeze holds"],
    [
      "metrics are not trusted",
      aFacts([A, B], [X], { instanceLoads: [] }),
      "blocked by METRICS: metrics are not trusted, so nothing moves that need not: no instance has reported yet: plan again later",
    ],
  ] as const)("is dropped when %s", (_what, facts, why) => expect(judge(facts)).toEqual({ kind: "dropped", why }));

  it("is made in spite of a freeze, a hold and bad metrics if it is forced", () => {
    const facts = aFacts([A, B], [{ ...X, directive: hold }], { freezes: [freeze], instanceLoads: [] });
    expect(judge(facts, move({ reason: "FORCED" }))).toMatchObject({ kind: "go" });
  });

  it("is not made alone if it is one half of an exchange", () => {
    expect(judge(aFacts([A, B], [X]), move({ reason: "SWAP" }))).toEqual({
      kind: "dropped",
      why: "what should change places with it is not in the plan",
    });
  });

  describe("that is part of an exchange", () => {
    const LAX = { ...DEFAULT_PLANNER_POLICY, budgets: { ...DEFAULT_PLANNER_POLICY.budgets, workspaces: 1_000_000 } };
    const [LEAVES, COMES] = [aUnitRow("leaves", "a", 260), aUnitRow("comes", "b", 140)];
    const out = move({ unit: LEAVES.unit.id, reason: "SWAP" });
    const back = move({ unit: COMES.unit.id, from: B.id, to: A.id, reason: "SWAP" });
    const exchange = [out, back];
    /** 860 of 900 on the one instance, the given load on the other. */
    const held = (leaves = LEAVES, comes = COMES, other = 460, over = {}) =>
      aFacts([A, B], [leaves, aUnitRow("a-rest", "a", 600), comes, aUnitRow("b-rest", "b", other)], over);
    const at = (row: typeof LEAVES, owner: InstanceId) => ({ ...row, unit: { ...row.unit, owner, epoch: 9 } });
    const judged = (facts: PlanningFacts, step: PlannedMove, policy = LAX) => openCarryingOut(facts, NOON, policy).judge(step, exchange);
    const follows = expect.stringContaining("it follows when what changes places with it has left: a: it would be at 100 %");

    it("is made if it fits and the other half will, which follows once it has left", () => {
      expect(judged(held(), out)).toMatchObject({ kind: "go", from: A.id });
      expect(judged(held(), back)).toEqual({ kind: "dropped", why: follows });
      expect(judged(held({ ...LEAVES, movingTo: B.id }), back)).toEqual({ kind: "dropped", why: follows });
      expect(judged(held(at(LEAVES, B.id)), back)).toMatchObject({ kind: "go", from: B.id });
    });

    it("is not begun if the other half would not fit, or may not go: half an exchange would only fill its target", () => {
      const rest = (load: number) => aFacts([A, B], [LEAVES, aUnitRow("a-rest", "a", load), COMES, aUnitRow("b-rest", "b", 460)]);
      expect(judged(rest(760), out)).toMatchObject({ kind: "go" });
      const cannot = (why: string) => ({
        kind: "dropped",
        why: expect.stringContaining(`what should change places with it cannot: ${why}`),
      });
      expect(judged(rest(761), out)).toEqual(cannot("a: it would be at 90"));
      expect(judged(held(LEAVES, { ...COMES, directive: hold }), out)).toEqual(cannot("it is held until"));
      expect(judged(held(LEAVES, at(COMES, B.id)), out)).toEqual(cannot("it was moved since"));
    });

    it("uses the budget of both halves with the first, and none with the second", () => {
      const strict = { ...LAX, budgets: { ...LAX.budgets, movesPerInstance: 1 } };
      expect(judged(held(), out, strict)).toMatchObject({ kind: "dropped", why: expect.stringContaining("INSTANCE_MOVES") });
      const moves = [{ unit: LEAVES.unit.id, from: A.id, to: B.id, reason: "SWAP", at: NOON } as const];
      expect(judged(held(at(LEAVES, B.id), COMES, 460, { moves }), back, strict)).toMatchObject({ kind: "go" });
      const small = aUnitRow("small", "a", 10);
      const two = { ...LAX, budgets: { ...LAX.budgets, movesPerInstance: 2 } };
      const carrying = openCarryingOut(aFacts([A, B], [LEAVES, COMES, small]), NOON, two);
      expect(carrying.judge(move({ unit: small.unit.id }))).toMatchObject({ kind: "go" });
      carrying.made(out, exchange);
      expect(carrying.judge(move({ unit: small.unit.id }))).toMatchObject({ why: expect.stringContaining("INSTANCE_MOVES") });
      const three = { ...LAX, budgets: { ...LAX.budgets, movesPerInstance: 3 } };
      const both = openCarryingOut(aFacts([A, B], [LEAVES, COMES, small]), NOON, three);
      for (const half of exchange) both.made(half, exchange);
      expect(both.judge(move({ unit: small.unit.id }))).toMatchObject({ kind: "go" });
    });

    it("is begun only if everything that changes places with it will fit together", () => {
      const other = aUnitRow("other", "b", 140);
      const two = [out, back, { ...back, unit: other.unit.id }];
      const judgedBeside = (rest: number) => {
        const facts = aFacts([A, B], [LEAVES, aUnitRow("a-rest", "a", rest), COMES, other, aUnitRow("b-rest", "b", 300)]);
        return openCarryingOut(facts, NOON, LAX).judge(out, two);
      };
      expect(judgedBeside(620)).toMatchObject({ kind: "go" });
      expect(judgedBeside(621)).toMatchObject({
        why: expect.stringContaining("what should change places with it cannot: a: it would be at 90"),
      });
    });
  });

  it("is left to the scheduler if the unit has no owner", () => {
    const facts = aFacts([A, B], [aUnitRow("y", undefined, 10)]);
    const step = { ...move({ reason: "FORCED", epoch: 0, from: undefined }), unit: "u-y" as PlannedMove["unit"] };
    expect(judge(facts, step)).toMatchObject({ kind: "dropped", why: expect.stringContaining("the scheduler places it") });
  });

  it("counts the steps before it: the load they bring, and the budget they use", () => {
    const units = unitRows("a", 10, 100);
    const steps = units.map(({ unit }) => move({ unit: unit.id, reason: "FORCED" }));
    const carrying = openCarryingOut(aFacts([A, B], units), NOON);
    const kinds = steps.map((step) => {
      const { kind } = carrying.judge(step);
      if (kind === "go") carrying.made(step);
      return kind;
    });
    expect(kinds).toEqual([...Array.from({ length: 9 }, () => "go"), "dropped"]);
    const budgeted = openCarryingOut(aFacts([A, B], units), NOON);
    const [first, second] = units.map(({ unit }) => move({ unit: unit.id }));
    expect(budgeted.judge(first!)).toMatchObject({ kind: "go" });
    budgeted.made(first!);
    // One workspace in two hundred may move within an hour, and one in any case.
    expect(budgeted.judge(second!)).toEqual({
      kind: "dropped",
      why: "blocked by WORKSPACES: 1 used, 1 more asked for, 1 allowed: plan again later",
    });
  });

  it("is returned with the state of the instance that it leaves", () => {
    const facts = aFacts([B, aRow("a", { state: "CORDONED" })], [X]);
    expect(judge(facts)).toMatchObject({ kind: "go", source: "CORDONED" });
    expect(judge(aFacts([B], [X]), move({ reason: "FORCED" }))).toMatchObject({ kind: "go", source: undefined });
  });

  it("is dropped if the target's version is no longer safe", () => {
    expect(judge(aFacts([A, aRow("b", { version: "3.5.0" })], [X]))).toEqual({
      ...{ kind: "dropped", why: "b: FLOOR: a version at or above the floor is wanted, it has one below it" },
    });
  });

  it("is made although the fleet's load jumped if it relieves an overloaded instance, with four times the budget", () => {
    const [one, other] = unitRows("a", 2, 100) as [typeof X, typeof X];
    const state = { aboveSince: {}, overloadedSince: {}, reference: { total: loadVector(() => 1) } };
    expect(judge(aFacts([A, B], [X], { state }))).toMatchObject({
      kind: "dropped",
      why: expect.stringMatching(/^blocked by METRICS: .* went from .*: plan again later$/),
    });
    expect(judge(aFacts([A, B], [X], { state }), move({ reason: "HOT" }))).toMatchObject({ kind: "go" });
    const carrying = openCarryingOut(aFacts([A, B], [one, other]), NOON);
    carrying.made(move({ unit: one.unit.id, reason: "HOT" }));
    expect(carrying.judge(move({ unit: other.unit.id, reason: "HOT" }))).toMatchObject({ kind: "go" });
    expect(carrying.judge(move({ unit: other.unit.id }))).toMatchObject({ kind: "dropped" });
  });

  it("uses no budget if it is forced, or if its unit is gone", () => {
    const [one, other] = unitRows("a", 2, 100) as [typeof X, typeof X];
    const carrying = openCarryingOut(aFacts([A, B], [one, other]), NOON);
    carrying.made(move({ unit: one.unit.id, reason: "FORCED" }));
    carrying.made(move({ unit: X.unit.id }));
    carrying.made(move({ unit: one.unit.id, from: undefined }));
    expect(carrying.judge(move({ unit: other.unit.id }))).toMatchObject({ kind: "go" });
  });

  it("is in the journal with its own record, and with none if the plan chose another instance", () => {
    const made = makePlan(aFacts([A, B], unitRows("a", 3, 100)), { kind: "drain", instance: A }, { at: NOON });
    const plan = storedPlanOf(made, { id: "p-1" as PlanId, goal: "drain", subject: "a", actor: "otto", at: NOON });
    for (const step of plan.moves) {
      const { details, ...entry } = moveDecision(plan, step, { at: NOON, actor: "anna" });
      expect(entry).toEqual({ at: NOON, subject: step.unit, kind: "placement", verdict: "MOVED", rule: "FORCED" });
      expect(details).toMatchObject({ from: A.id, to: B.id, plan: "p-1", actor: "anna", record: { units: [step.unit] } });
    }
    const [first] = plan.moves;
    expect(moveDecision(plan, { ...first!, to: C.id, from: undefined }, said).details).toMatchObject({ record: null });
  });

  it("is dropped if its target is unknown", () => {
    expect(judge(aFacts([A, B], [X]), move({ to: "(one more)" as InstanceId }))).toMatchObject({ kind: "dropped" });
  });
});
