import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Decision } from "../domain/decision.ts";
import type { InstanceId, PlanId, UnitId } from "../domain/ids.ts";
import { ZERO_LOAD } from "../domain/load.ts";
import type { StoredPlan } from "../domain/plan.ts";
import type { Candidate } from "./candidate.ts";
import { NO_CONSTRAINTS } from "./eligibility.ts";
import { placeUnit } from "./place-unit.ts";
import { placementDecision } from "./placement-decision.ts";
import { makePlan } from "./plan/make-plan.ts";
import { storedPlanOf } from "./plan/stored-plan.ts";
import { moveDecision } from "./plan/validate-step.ts";
import { DEFAULT_POLICY } from "./policy.ts";
import { reviewDecision, reviewPlan } from "./review.ts";
import { aFacts, aRow, aUnitRow, longAbove, unitRows } from "./testing/facts.ts";
import { NOON, ROOMY } from "./testing/snapshots.ts";

const stored = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
const aCandidate = (name: string, applications: number, state: Candidate["state"] = "ACTIVE"): Candidate => ({
  ...{ id: name as InstanceId, name, state, weight: 1, capacity: ROOMY },
  load: { ...ZERO_LOAD, applications },
});
const decide = (candidates: readonly Candidate[], pinnedTo?: readonly InstanceId[]): Decision => {
  const constraints = pinnedTo === undefined ? {} : { constraints: { ...NO_CONSTRAINTS, needs: [{ pinnedTo }] } };
  const question = {
    unit: { id: "u-1" as UnitId, load: { ...ZERO_LOAD, applications: 100 }, ...constraints },
    candidates,
    policy: DEFAULT_POLICY,
  };
  return stored(placementDecision(question, placeUnit(question), NOON));
};

describe("the review of a recorded decision (P5)", () => {
  const candidates = fc.array(fc.tuple(fc.nat(1000), fc.constantFrom("ACTIVE", "ACTIVE", "CORDONED" as const)), { maxLength: 40 });

  it("confirms a verdict that follows from its record, pins included, however many instances there were", () => {
    fc.assert(
      fc.property(candidates, fc.option(fc.nat(39)), (all, pin) => {
        const each = all.map(([load, state], index) => aCandidate(`s${String(index).padStart(2, "0")}`, load, state));
        const pinnedTo = pin === null ? undefined : [`s${String(pin).padStart(2, "0")}` as InstanceId];
        return reviewDecision(decide(each, pinnedTo)) === true;
      }),
    );
  });

  it("contradicts a verdict that does not follow from its facts", () => {
    const decision = decide([aCandidate("a", 0), aCandidate("b", 0)]);
    expect(reviewDecision(decision)).toBe(true);
    expect(reviewDecision({ ...decision, details: { ...decision.details, chosen: "c" } })).toBe(false);
    expect(reviewDecision({ ...decision, rule: "LEAST_LOADED" })).toBe(false);
    const full = [aCandidate("a", 950), aCandidate("b", 950)];
    expect(reviewDecision({ ...decision, details: { ...decision.details, candidates: full } })).toBe(false);
    expect(reviewDecision(decide(full))).toBe(true);
  });

  it("does not judge a person's order, or an entry without facts", () => {
    const decision = decide([aCandidate("a", 0)]);
    expect(reviewDecision({ ...decision, kind: "directive" })).toBeUndefined();
    expect(reviewDecision({ ...decision, details: {} })).toBeUndefined();
    expect(reviewDecision({ ...decision, verdict: "MOVED", details: { record: null } })).toBeUndefined();
  });

  it("asks whether a promise came out as it says", () => {
    const promise = (verdict: string, expected: unknown, real: unknown) =>
      reviewDecision({ ...decide([aCandidate("a", 0)]), kind: "plan", verdict, rule: "PROMISE", details: { expected, real } });
    expect([promise("KEPT", 100, 50), promise("BROKEN", 100, 49), promise("BROKEN", 100, -10)]).toEqual([true, true, true]);
    expect([promise("KEPT", 100, 49), promise("BROKEN", 100, 50), promise("KEPT", "100", 50)]).toEqual([false, false, false]);
    expect([promise("PROPOSED", 100, 50), promise("NOT_MEASURED", undefined, undefined)]).toEqual([undefined, undefined]);
  });

  it("covers moves and whole plans", () => {
    const facts = aFacts(
      [aRow("a"), aRow("b")],
      [...unitRows("a", 18, 50), ...unitRows("b", 2, 50), aUnitRow("x", "gone", 5000)],
      longAbove("a"),
    );
    const made = makePlan(facts, { kind: "rebalance" }, { at: NOON });
    const plan: StoredPlan = stored(storedPlanOf(made, { id: "p" as PlanId, goal: "rebalance", subject: "", actor: "otto", at: NOON }));
    expect(reviewPlan(plan)).toBe(true);
    const decision = stored(moveDecision(plan, plan.moves[0]!, { at: NOON, actor: "otto" }));
    expect(reviewDecision(decision)).toBe(true);
    const record = decision.details["record"] as Record<string, unknown>;
    const other = { ...record, answer: { ...(record["answer"] as object), chosen: "i-a" } };
    expect(reviewDecision({ ...decision, details: { ...decision.details, record: other } })).toBe(false);
    expect(reviewPlan({ ...plan, records: [other] })).toBe(false);
    const blockedBy = { rule: "FREEZE", reason: "", at: NOON, until: NOON };
    expect(reviewPlan({ ...plan, report: { ...plan.report, blockedBy: [blockedBy] } })).toBe(false);
  });
});
