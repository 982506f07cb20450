import { describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import type { InstanceId } from "../../domain/ids.ts";
import { createRingMemo } from "../ring-memo.ts";
import { aCandidate, aSnapshot, aUnit, LONG_ABOVE, NOON, TRAITS, units } from "../testing/snapshots.ts";
import { type BlockedBy, reEvaluatesBlockedBy } from "./budget.ts";
import { planMoves } from "./plan-moves.ts";
import { holdsCause, type MoveRecord, reEvaluates, reEvaluatesStay, type StayRecord } from "./record.ts";
import type { PlanSnapshot } from "./snapshot.ts";

const ringOf = createRingMemo()("eu/shared/public");
const plan = (snapshot: PlanSnapshot) => planMoves(snapshot, { ringOf });
const first = (snapshot: PlanSnapshot) => plan(snapshot).records[0] as MoveRecord;
const shed = first(
  aSnapshot(
    [aCandidate("a", LONG_ABOVE), aCandidate("b"), aCandidate("c")],
    [...units("a", 80, 10), ...units("b", 10, 10), ...units("c", 10, 10)],
  ),
);
const forced = first(aSnapshot([aCandidate("a", { state: "DRAINING" }), aCandidate("b")], [aUnit("u", "a", 10)]));
const filled = first(aSnapshot([aCandidate("new", { isFilling: true }), aCandidate("b")], units("b", 50, 10)));

describe("what is recorded with a move", () => {
  it("says why, where to, by which rule and under which bound", () => {
    expect(shed).toMatchObject({ reason: "SHED", cause: { rule: "ABOVE", instance: "a", share: 800_000 } });
    expect(forced).toMatchObject({
      reason: "FORCED",
      cause: { rule: "MAY_NOT_STAY", ineligible: { rule: "STATE", state: "DRAINING" } },
      answer: { chosen: "b" },
    });
    expect(filled).toMatchObject({ reason: "FILL", cause: { rule: "BELOW", instance: "new" }, answer: { chosen: "new", rule: "NAMED" } });
    for (const record of [shed, forced, filled]) expect(reEvaluates(record)).toBe(true);
  });

  it("names the rule by which each instance was found", () => {
    const candidates = ["a", "b", "c"].map((name) => aCandidate(name));
    const rules = Array.from({ length: 40 }, (_, index) => {
      const { answer, question } = first(
        aSnapshot(
          [...candidates.slice(0, 2), aCandidate("c", { traits: { ...TRAITS, isBelowFloor: true } })],
          [aUnit(`u${index}`, undefined, 1)],
        ),
      );
      expect(answer.rule).toBe(answer.chosen === question.preferred ? "PREFERRED" : "SPILL");
      expect(answer.refusals.every(({ instance }) => instance === "c")).toBe(true);
      return answer.rule;
    });
    expect(new Set(rules)).toEqual(new Set(["PREFERRED", "SPILL"]));
    const many = Array.from({ length: 30 }, (_, index) =>
      aCandidate(`s${index}`, index === 9 ? {} : { traits: { ...TRAITS, isBelowFloor: true } }),
    );
    const least = Array.from({ length: 30 }, (_, index) => first(aSnapshot(many, [aUnit(`u${index}`, undefined, 1)]))).filter(
      ({ answer }) => answer.rule === "LEAST_LOADED",
    );
    expect(least.length).toBeGreaterThan(5);
    for (const record of least) {
      expect(record).toMatchObject({ answer: { chosen: "s9" }, question: { walk: 8 } });
      expect(record.answer.refusals).toHaveLength(8);
      expect(record.question.views).toHaveLength(20);
      expect(reEvaluates(record)).toBe(true);
    }
  });

  it.each<[string, (record: MoveRecord) => MoveRecord]>([
    ["another instance", (record) => ({ ...record, answer: { ...record.answer, chosen: "x" as InstanceId } })],
    ["another rule", (record) => ({ ...record, answer: { ...record.answer, rule: "NOTHING_FITS" } })],
    ["another bound", (record) => ({ ...record, question: { ...record.question, bounds: [1] } })],
    [
      "a refusal that does not follow",
      (record) => ({
        ...record,
        answer: { ...record.answer, refusals: [{ instance: "x" as InstanceId, rule: "STATE", state: "FAILED" }] },
      }),
    ],
    [
      "an instance that carries more",
      (record) => ({
        ...record,
        question: { ...record.question, views: record.question.views.map((view) => ({ ...view, load: { ...view.load, milliCpu: 999 } })) },
      }),
    ],
    [
      "an instance that is not ACTIVE",
      (record) => ({
        ...record,
        question: { ...record.question, views: record.question.views.map((view) => ({ ...view, state: "FAILED" as const })) },
      }),
    ],
  ])("does not re-evaluate with %s", (_what, tamper) => {
    for (const record of [shed, forced, filled]) expect(reEvaluates(tamper(record))).toBe(false);
  });

  it("does not re-evaluate when the cause says something else", () => {
    const { cause } = shed;
    if (cause.rule !== "ABOVE" || filled.cause.rule !== "BELOW" || forced.cause.rule !== "MAY_NOT_STAY")
      throw new Error("the causes are others");
    expect(holdsCause({ ...cause, share: cause.share + 1 })).toBe(false);
    expect(holdsCause({ ...cause, limit: cause.share })).toBe(false);
    expect(holdsCause({ ...cause, forMs: cause.persistMs - 1 })).toBe(false);
    expect(holdsCause({ ...filled.cause, limit: filled.cause.share })).toBe(false);
    expect(holdsCause({ ...forced.cause, offer: { ...forced.cause.offer, state: "ACTIVE" } })).toBe(false);
    const { forMs: _forMs, persistMs: _persistMs, ...rest } = cause;
    expect(holdsCause({ ...rest, rule: "OVERLOADED" })).toBe(true);
    expect(holdsCause({ ...rest, rule: "OVERLOADED", limit: rest.share })).toBe(false);
    expect(holdsCause({ rule: "OWNER_GONE", instance: "a" as InstanceId, known: ["b" as InstanceId] })).toBe(true);
    expect(holdsCause({ rule: "OWNER_GONE", instance: "a" as InstanceId, known: ["a" as InstanceId] })).toBe(false);
    expect(holdsCause({ rule: "SPREAD", instances: ["a" as InstanceId, "a" as InstanceId] })).toBe(false);
  });
});

describe("what is recorded with a unit that stays, and with what blocked moves", () => {
  it("holds until its time has come", () => {
    const stay: StayRecord = {
      unit: "u" as StayRecord["unit"],
      instance: "a" as InstanceId,
      at: NOON,
      rule: "COOL_DOWN",
      until: millis(NOON + 1),
    };
    expect(reEvaluatesStay(stay)).toBe(true);
    expect(reEvaluatesStay({ ...stay, until: NOON })).toBe(false);
    expect(reEvaluatesStay({ ...stay, until: undefined })).toBe(false);
    expect(reEvaluatesStay({ ...stay, rule: "MOVING", until: undefined })).toBe(true);
  });

  it.each<[BlockedBy, BlockedBy]>([
    [
      { rule: "METRICS", verdict: { kind: "distrusted", rule: "NONE" } },
      { rule: "METRICS", verdict: { kind: "trusted" } },
    ],
    [
      { rule: "FREEZE", reason: "", at: NOON, until: millis(NOON + 1) },
      { rule: "FREEZE", reason: "", at: NOON, until: NOON },
    ],
    [
      { rule: "BREAKER", failed: 3, of: 9, limit: 3 },
      { rule: "BREAKER", failed: 2, of: 9, limit: 3 },
    ],
    [
      { rule: "PERSISTENCE", instance: "a" as InstanceId, forMs: 1, persistMs: 2 },
      { rule: "PERSISTENCE", instance: "a" as InstanceId, forMs: 2, persistMs: 2 },
    ],
    [
      { rule: "WORKSPACES", subject: "", used: 2, asked: 1, limit: 2 },
      { rule: "WORKSPACES", subject: "", used: 1, asked: 1, limit: 2 },
    ],
  ])("%o blocks, and %o does not", (biting, idle) => {
    expect(reEvaluatesBlockedBy(biting)).toBe(true);
    expect(reEvaluatesBlockedBy(idle)).toBe(false);
  });
});
