import { describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import type { PlanId } from "../../domain/ids.ts";
import type { StoredPlan } from "../../domain/plan.ts";
import { complete } from "../../domain/resumable.ts";
import { aFacts, aRow, unitRows } from "../testing/facts.ts";
import { HOUR_MS, NOON } from "../testing/snapshots.ts";
import { makePlan } from "./make-plan.ts";
import { hashesInTurns } from "./plan-moves.ts";
import { interruptedOf, type PlanHead, proposalOf, proposedOf, SCHEDULER, standingOf, storedPlanOf } from "./stored-plan.ts";

const isProposed = (...plans: Parameters<typeof proposedOf>): boolean => proposedOf(...plans) !== undefined;

const facts = aFacts([aRow("a", { state: "DRAINING" }), aRow("b")], unitRows("a", 3, 50));
const made = makePlan(facts, { kind: "rebalance" }, { at: NOON });
const HEAD: PlanHead = { id: "p-1" as PlanId, goal: "rebalance", subject: "eu/shared/public", actor: SCHEDULER, at: NOON };
const stored = storedPlanOf(made, HEAD);
const MINUTE_MS = 60_000;

describe("a stored plan", () => {
  it("has the hash of its snapshot and its report, and expires after an hour", () => {
    const { moves, records } = made.plan;
    const { snapshotHash, planHash } = complete(hashesInTurns(made.snapshot, made.plan));
    expect(moves).toHaveLength(3);
    expect(stored).toEqual({
      ...HEAD,
      ...{ at: undefined, class: "eu/shared/public", snapshotHash, planHash, moves, records, report: made.document },
      ...{ createdAt: NOON, expiresAt: NOON + HOUR_MS, appliedAt: undefined },
    });
    expect("at" in stored).toBe(false);
  });

  it("is in the journal with who asked for what, and how many moves it has", () => {
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

  it("is proposed already while the same one has not expired", () => {
    expect(isProposed([stored], later)).toBe(true);
    expect(isProposed([{ ...stored, actor: "otto" }, stored], later)).toBe(true);
    expect(isProposed([], later)).toBe(false);
  });

  it("is not if the one before has expired, was asked for by a person, or supposed another fleet", () => {
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
  ])("is not if it has %s", (_what, fresh) => {
    expect(isProposed([stored], fresh)).toBe(false);
  });

  it("is proposed again only when the hour is over, also if it places units that have no instance", () => {
    const placing = withFirst({ from: undefined });
    expect(isProposed([{ ...placing, expiresAt: millis(later.createdAt + MINUTE_MS) }], placing)).toBe(true);
  });
});

describe("a plan that was asked for before", () => {
  const drain = { ...stored, goal: "drain", subject: "a" } as const;
  const fresh = { ...drain, id: "p-2" as PlanId, createdAt: millis(NOON + HOUR_MS - 1) };
  const other = { ...drain, id: "p-3" as PlanId, moves: drain.moves.slice(1) };

  it("stands while its goal and moves are the same, and it has not expired", () => {
    expect(standingOf([other, drain], fresh)).toBe(drain);
    expect(standingOf([], fresh)).toBeUndefined();
    expect(standingOf([other], fresh)).toBeUndefined();
    expect(standingOf([{ ...drain, goal: "remove" }], fresh)).toBeUndefined();
    expect(standingOf([{ ...drain, subject: "b" }], fresh)).toBeUndefined();
    expect(standingOf([drain], { ...fresh, createdAt: millis(NOON + HOUR_MS) })).toBeUndefined();
  });

  it("was interrupted if it empties the instance, was made since that began, and was not carried out to its end", () => {
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
