import { describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import type { InstanceId, WorkspaceId } from "../../domain/ids.ts";
import { asLoadVector, loadVector, ZERO_LOAD } from "../../domain/load.ts";
import { complete } from "../../domain/resumable.ts";
import { NO_CONSTRAINTS } from "../eligibility.ts";
import { aUnit, HOUR_MS, NOON } from "../testing/snapshots.ts";
import { amountsOf, failedUntil, groupsInTurns } from "./affinity-groups.ts";
import { DEFAULT_PLANNER_POLICY } from "./planner-policy.ts";
import type { PlanUnit } from "./snapshot.ts";

const groups = (...units: readonly PlanUnit[]) => complete(groupsInTurns(units, NOON, DEFAULT_PLANNER_POLICY));
const constraintsOf = (...units: readonly PlanUnit[]) => groups(...units)[0]?.constraints;
const inGroup = (together: string) => ({ needs: { together } });

describe("what is placed as one", () => {
  it("is each unit, or all that name one group, at the place of the first of them", () => {
    const [a, b, c, d, e] = [
      aUnit("a", undefined, 1),
      aUnit("b", undefined, 2, inGroup("x")),
      aUnit("c", undefined, 4, inGroup("y")),
      aUnit("d", undefined, 8, inGroup("x")),
      aUnit("e", undefined, 16, inGroup("x")),
    ];
    expect(groups(a, b, c, d, e).map(({ index, key, units, load }) => [index, key, units, load])).toEqual([
      [0, "a", [a], [1, 0, 0, 0, 0]],
      [1, "together x", [b, d, e], [26, 0, 0, 0, 0]],
      [2, "together y", [c], [4, 0, 0, 0, 0]],
    ]);
    expect(groups()).toEqual([]);
  });

  it("has no constraints if none of its units has any", () => {
    const plain = aUnit("u", "a", 1, { movedAt: NOON, doNotMoveUntil: NOON });
    expect(groups(plain, aUnit("v", "a", 1, { needs: { region: "eu" } })).map(({ isPlain }) => isPlain)).toEqual([true, false]);
    expect(constraintsOf(plain)).toBe(NO_CONSTRAINTS);
  });

  it("needs what any of its units needs", () => {
    const [one, other] = [{ together: "t", region: "eu", apart: "x" }, { together: "t" }];
    expect(constraintsOf(aUnit("u", "a", 1, { needs: one }), aUnit("v", "a", 1, { needs: other }))).toEqual({
      ...{ needs: [one, other], apart: ["x"], failedAt: [] },
    });
  });

  it("lives apart from other parts of its workspace, and from the members of its own `apart` group", () => {
    const workspaceId = "w" as WorkspaceId;
    const [first, second, third] = groups(
      aUnit("u", "a", 1, { workspaceId, needs: { apart: "x" } }),
      aUnit("v", "a", 1, { workspaceId }),
      aUnit("other", "a", 1),
    );
    expect([first?.constraints.apart, second?.constraints.apart]).toEqual([["x", "workspace w"], ["workspace w"]]);
    expect([second?.isPlain, third?.isPlain]).toEqual([false, true]);
  });

  it("avoids an instance to which a move of it failed, until that has cooled down", () => {
    const failed = (hoursAgo: number, more = 0) => ({
      failed: { times: 1, at: millis(NOON - hoursAgo * HOUR_MS - more), to: "b" as InstanceId },
    });
    expect(constraintsOf(aUnit("u", "a", 1, failed(6, -1)))?.failedAt).toEqual(["b"]);
    expect(constraintsOf(aUnit("u", "a", 1, failed(6)))?.failedAt).toEqual([]);
    expect(groups(aUnit("u", "a", 1, failed(6)))[0]?.isPlain).toBe(false);
  });
});

describe("a load as planning counts it", () => {
  it.each([
    [7, 7],
    [7.9, 7],
    [0, 0],
    [-1, 0],
    [Number.NaN, 0],
    [1e9, 1e9],
    [1e9 + 1, 1e9],
    [Number.POSITIVE_INFINITY, 1e9],
  ])("of %d is %d", (value, amount) => {
    expect(amountsOf(loadVector(() => value))).toEqual([amount, amount, amount, amount, amount]);
  });

  it("has its dimensions in their order", () => {
    expect(amountsOf(asLoadVector({ applications: 1, clusterEntries: 2, cachedResources: 3, milliCpu: 4, gitPerMinute: 5 }))).toEqual([
      1, 2, 3, 4, 5,
    ]);
    expect(amountsOf(ZERO_LOAD)).toEqual([0, 0, 0, 0, 0]);
  });
});

describe("a unit whose move failed", () => {
  it.each([
    [0, 6],
    [1, 6],
    [2, 12],
    [3, 24],
    [4, 24],
    [2_000, 24],
  ])("%i times is left alone for %i hours", (times, hours) => {
    expect(failedUntil({ times, at: NOON, to: "b" as InstanceId }, DEFAULT_PLANNER_POLICY)).toBe(NOON + hours * HOUR_MS);
  });

  it("often is left alone ever longer, if the policy lets it", () => {
    const policy = { ...DEFAULT_PLANNER_POLICY, coolDownMs: Number.MAX_SAFE_INTEGER, failedCoolDownMs: 1 };
    expect([5, 17, 18, 99].map((times) => failedUntil({ times, at: NOON, to: "b" as InstanceId }, policy) - NOON)).toEqual([
      16, 65_536, 65_536, 65_536,
    ]);
  });
});
