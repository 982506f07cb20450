import { describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import type { PlanId } from "../../domain/ids.ts";
import type { StoredPlan } from "../../domain/plan.ts";
import { aFacts, aRow, unitRows } from "../testing/facts.ts";
import { HOUR_MS, NOON } from "../testing/snapshots.ts";
import { makePlan } from "./make-plan.ts";
import { interruptedOf, type PlanHead, proposalOf, proposedOf, SCHEDULER, standingOf, storedPlanOf } from "./stored-plan.ts";

const isProposed = (...plans: Parameters<typeof proposedOf>): boolean => proposedOf(...plans) !== undefined;

const facts = aFacts([aRow("a", { state: "DRAINING" }), aRow("b")], unitRows("a", 3, 50));
const made = makePlan(facts, { kind: "rebalance" }, { at: NOON });
const HEAD: PlanHead = { id: "p-1" as PlanId, goal: "rebalance", subject: "eu/shared/public", actor: SCHEDULER, at: NOON };
const stored = storedPlanOf(made, HEAD);
const MINUTE_MS = 60_000;

describe("a plan that is kept", () => {
  it("has what it was made from and what it says, and is good for an hour", () => {
    const { snapshotHash, planHash, moves, records } = made.plan;
    expect(moves).toHaveLength(3);
    expect(stored).toEqual({
      ...HEAD,
      ...{ at: undefined, class: "eu/shared/public", snapshotHash, planHash, moves, records, report: made.document },
      ...{ createdAt: NOON, expiresAt: NOON + HOUR_MS, appliedAt: undefined },
    });
    expect("at" in stored).toBe(false);
  });

  it("is told in the journal by who asked for what, and how many moves came of it", () => {
    const { snapshotHash, planHash, moves } = stored;
    expect(proposalOf({ ...stored, actor: "otto", goal: "drain", subject: "standard-1" })).toEqual({
      ...{ at: NOON, subject: "p-1", kind: "plan", verdict: "PROPOSED", rule: "DRAIN" },
      details: {
        actor: "otto",
        goal: "drain",
        subject: "standard-1",
        class: "eu/shared/public",
        snapshotHash,
        planHash,
        moves: moves.length,
      },
    });
  });
});

describe("a plan that the scheduler would make", () => {
  const [first, ...others] = stored.moves as [StoredPlan["moves"][number], ...StoredPlan["moves"]];
  const later = { ...stored, id: "p-2" as PlanId, createdAt: millis(NOON + HOUR_MS - 1), expiresAt: millis(NOON + 2 * HOUR_MS) };
  const withFirst = (change: Partial<StoredPlan["moves"][number]>): StoredPlan => ({
    ...later,
    moves: [{ ...first, ...change }, ...others],
  });

  it("is proposed already while the same one stands", () => {
    expect(isProposed([stored], later)).toBe(true);
    expect(isProposed([{ ...stored, actor: "otto" }, stored], later)).toBe(true);
    expect(isProposed([], later)).toBe(false);
  });

  it("is not when the one before has expired, was asked for by a person, or supposed something", () => {
    expect(isProposed([stored], { ...later, createdAt: millis(NOON + HOUR_MS) })).toBe(false);
    expect(isProposed([{ ...stored, actor: "otto" }], later)).toBe(false);
    expect(isProposed([{ ...stored, goal: "drain" }], later)).toBe(false);
  });

  it.each<readonly [what: string, fresh: StoredPlan]>([
    ["another unit", withFirst({ unit: "u-other" as StoredPlan["moves"][number]["unit"] })],
    ["another origin", withFirst({ from: undefined })],
    ["another target", withFirst({ to: aRow("c").id })],
    ["another epoch", withFirst({ epoch: 99 })],
    ["another reason", withFirst({ reason: "HOT" })],
    ["one move less", { ...later, moves: others }],
    ["another order", { ...later, moves: [...others, first] }],
  ])("is not when it has %s", (_what, fresh) => {
    expect(isProposed([stored], fresh)).toBe(false);
  });

  it("is proposed again not before the hour is over, also when it places units that have no instance", () => {
    const placing = withFirst({ from: undefined });
    expect(isProposed([{ ...placing, expiresAt: millis(later.createdAt + MINUTE_MS) }], placing)).toBe(true);
  });
});

describe("a plan that was asked for before", () => {
  const drain = { ...stored, goal: "drain", subject: "a" } as const;
  const fresh = { ...drain, id: "p-2" as PlanId, createdAt: millis(NOON + HOUR_MS - 1) };
  const other = { ...drain, id: "p-3" as PlanId, moves: drain.moves.slice(1) };

  it("stands while it wants the same for the same, and is not over", () => {
    expect(standingOf([other, drain], fresh)).toBe(drain);
    expect(standingOf([], fresh)).toBeUndefined();
    expect(standingOf([other], fresh)).toBeUndefined();
    expect(standingOf([{ ...drain, goal: "remove" }], fresh)).toBeUndefined();
    expect(standingOf([{ ...drain, subject: "b" }], fresh)).toBeUndefined();
    expect(standingOf([drain], { ...fresh, createdAt: millis(NOON + HOUR_MS) })).toBeUndefined();
  });

  it("was interrupted when it empties the instance since it is emptied, and nobody carried it out to its end", () => {
    const row = { name: "a", stateSince: NOON };
    const at = millis(NOON + HOUR_MS - 1);
    expect(interruptedOf([drain, other], row, at)).toEqual([drain, other]);
    expect(interruptedOf([{ ...drain, goal: "rebalance" }], row, at)).toEqual([]);
    expect(interruptedOf([{ ...drain, subject: "b" }], row, at)).toEqual([]);
    expect(interruptedOf([drain], { ...row, stateSince: millis(NOON + 1) }, at)).toEqual([]);
    expect(interruptedOf([{ ...drain, appliedAt: NOON }], row, at)).toEqual([]);
    expect(interruptedOf([drain], row, millis(NOON + HOUR_MS))).toEqual([]);
  });
});
