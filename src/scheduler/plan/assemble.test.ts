import { describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import type { Freeze } from "../../domain/directive.ts";
import { VERDICT_LASTS_MS, type VerdictState } from "../../domain/health.ts";
import type { InstanceId, UnitId } from "../../domain/ids.ts";
import type { InstanceState } from "../../domain/instance.ts";
import { loadVector, ZERO_LOAD } from "../../domain/load.ts";
import type { MoveReason } from "../../domain/plan.ts";
import { aFacts, aRow, aUnitRow } from "../testing/facts.ts";
import { HOUR_MS, NOON } from "../testing/snapshots.ts";
import { assembleSnapshot, type PlanningFacts, presentLoads, reportsOf } from "./assemble.ts";

const [A, B] = [aRow("a"), aRow("b")];
const snapshotOf = (over: Partial<PlanningFacts>) => assembleSnapshot(aFacts([A, B], [], over), NOON);
const UNIT = aUnitRow("u", "a", 7).unit.id;
const failure = (agoMs: number) => ({ unit: UNIT, to: "i-b" as InstanceId, at: millis(NOON - agoMs) });
const STATES: readonly (readonly [InstanceState, boolean])[] = [
  ["ACTIVE", true],
  ["CORDONED", true],
  ["DRAINING", true],
  ["WARMING", false],
  ["FAILED", false],
];

describe("a snapshot made of rows", () => {
  it("counts voluntary moves of the last hour, and has all moves of the day among its outcomes", () => {
    const move = (unit: string, reason: MoveReason, ageMs: number) => ({
      ...{ unit: unit as UnitId, from: "i-a" as InstanceId, to: "i-b" as InstanceId },
      ...{ reason, at: millis(NOON - ageMs) },
    });
    const moves = [move("new", "SHED", HOUR_MS - 1), move("old", "SHED", HOUR_MS), move("forced", "FORCED", 1), move("hot", "HOT", 0)];
    const { recentMoves, outcomes } = snapshotOf({ moves });
    expect(recentMoves).toEqual([
      { unit: "new", from: "i-a", to: "i-b" },
      { unit: "hot", from: "i-a", to: "i-b" },
    ]);
    expect(outcomes).toEqual(["done", "done", "done", "done"]);
  });

  it.each<readonly [VerdictState, number, string | undefined]>([
    ["stalled", 0, "stalled"],
    ["failed", 0, "failed"],
    ["stalled", VERDICT_LASTS_MS + 1, undefined],
    // A fleet of unknown health has to be planned all the same.
    ["unknown", 0, undefined],
    ["overloaded", 0, undefined],
  ])("offers an instance that was %s %i ms ago as one that is %s", (state, ageMs, health) => {
    const verdicts = [{ instanceId: "i-b" as InstanceId, state, at: millis(NOON - ageMs) }];
    expect(snapshotOf({ verdicts }).candidates.map((candidate) => candidate.health)).toEqual([undefined, health]);
  });

  it("has failed moves among its outcomes, besides those that were made", () => {
    const move = {
      unit: "u" as UnitId,
      from: "i-a" as InstanceId,
      to: "i-b" as InstanceId,
      reason: "SHED",
      at: millis(NOON - 20),
    } as const;
    expect(snapshotOf({ moves: [move], failures: [failure(10), failure(30)] }).outcomes).toEqual(["failed", "done", "failed"]);
  });

  it("keeps a unit away from where its last move failed, longer with each failure, unless it was moved since", () => {
    const failedOf = (over: Partial<PlanningFacts>, state: InstanceState = "ACTIVE") =>
      assembleSnapshot(aFacts([aRow("a", { state }), B], [aUnitRow("u", "a", 7)], over), NOON).units[0]?.failed;
    expect(failedOf({ failures: [] })).toBeUndefined();
    expect(failedOf({ failures: [{ ...failure(5), unit: "v" as UnitId }] })).toBeUndefined();
    expect(failedOf({ failures: [failure(5), failure(9), { ...failure(12), to: "i-c" as InstanceId }] })).toEqual({
      ...{ times: 2, at: NOON - 5, to: "i-b" },
    });
    const moved = {
      unit: UNIT,
      from: "i-c" as InstanceId,
      to: "i-a" as InstanceId,
      reason: "SHED",
      at: millis(NOON - 7),
    } as const;
    expect(failedOf({ failures: [failure(5), failure(9)], moves: [moved] })).toMatchObject({ times: 1 });
    expect(failedOf({ failures: [failure(9)], moves: [moved] })).toBeUndefined();
    expect(failedOf({ failures: [failure(10 * 60_000 - 1)] }, "DRAINING")).toMatchObject({ to: "i-b" });
    expect(failedOf({ failures: [failure(10 * 60_000)] }, "DRAINING")).toBeUndefined();
    expect(failedOf({ failures: [failure(10 * 60_000)] }, "CORDONED")).toMatchObject({ to: "i-b" });
  });

  it.each(STATES)("asks an instance that is %s for a report: %s", (state, isMeasured) => {
    const row = aRow("a", { state });
    const facts = aFacts([row], [aUnitRow("u", "a", 7)]);
    expect(reportsOf(facts).map(({ instance }) => instance)).toEqual(isMeasured ? [row.id] : []);
    expect(presentLoads(facts).map(({ id }) => id)).toEqual(isMeasured ? [row.id] : []);
  });

  it("takes a unit's measured load as its present one, and its planning load if nothing was measured", () => {
    const known = { planning: ZERO_LOAD, recent: loadVector(() => 2.5), at: NOON };
    const rows = [aUnitRow("u", "a", 7, { known }), aUnitRow("v", "a", 10), aUnitRow("w", undefined, 99)];
    const state = { aboveSince: {}, overloadedSince: { "i-a": millis(5) } };
    expect(presentLoads(aFacts([A, B], rows, { state }))).toEqual([
      { id: "i-a", capacity: A.capacity, load: { ...loadVector(() => 3), applications: 13 }, since: 5 },
      { id: "i-b", capacity: B.capacity, load: ZERO_LOAD, since: undefined },
    ]);
    const [u, v] = assembleSnapshot(aFacts([A, B], rows), NOON).units;
    expect([u?.recentLoad, v?.recentLoad]).toEqual([loadVector(() => 3), undefined]);
  });

  it.each([
    ["ACTIVE", 24 * HOUR_MS - 1, true],
    ["ACTIVE", 24 * HOUR_MS, false],
    ["CORDONED", 0, false],
  ] as const)("fills an instance that has been %s for %i ms: %s", (state, ageMs, isFilling) => {
    const row = aRow("a", { state, stateSince: millis(NOON - ageMs) });
    expect(assembleSnapshot(aFacts([row], []), NOON).candidates[0]?.isFilling).toBe(isFilling);
  });

  it("is frozen by the freeze that ends last, and by none before it begins or after it has ended", () => {
    const freeze = (name: string, from: number, durationMs: number): Freeze => ({
      ...{ name, schedule: undefined, durationMs, actor: "otto", reason: `why ${name}`, at: millis(NOON + from) },
    });
    const held = (...freezes: readonly Freeze[]) => snapshotOf({ freezes }).freeze;
    expect(held()).toBeUndefined();
    expect(held(freeze("later", 1, 100))).toBeUndefined();
    expect(held(freeze("over", -100, 100))).toBeUndefined();
    expect(held(freeze("begins", 0, 1))).toEqual({ reason: "begins: why begins", until: NOON + 1 });
    expect(held(freeze("ends", -100, 101))).toEqual({ reason: "ends: why ends", until: NOON + 1 });
    expect(held(freeze("short", 0, 10), freeze("long", -5, 100), freeze("over", -9, 9))).toEqual({
      reason: "long: why long",
      until: NOON + 95,
    });
    expect(held(freeze("b", 0, 10), freeze("a", 0, 10))?.reason).toBe("a: why a");
    expect(held({ ...freeze("nightly", -HOUR_MS * 48, HOUR_MS), schedule: "0 0 31 2 *" })).toBeUndefined();
  });

  it("has a unit's needs and clusters, and leaves them out if there are none", () => {
    const [u, v] = assembleSnapshot(
      aFacts([A], [aUnitRow("u", "a", 1), aUnitRow("v", "a", 1, { clusters: ["c"], trustClass: "internal" })]),
      NOON,
    ).units;
    expect(u).not.toHaveProperty("needs");
    expect(u).not.toHaveProperty("clusters");
    expect(v).toMatchObject({ needs: { trust: "internal" }, clusters: ["c"] });
  });

  it("says of two parts that applications pass between them, where both are on an instance that takes units", () => {
    const [u, v] = [aUnitRow("u", "a", 1), aUnitRow("v", "a", 1)];
    const other = aUnitRow("w", "b", 1);
    const passing = (state: InstanceState, ...units: readonly ReturnType<typeof aUnitRow>[]) =>
      assembleSnapshot(aFacts([aRow("a", { state }), B], units), NOON).units.flatMap(({ id, isPassing }) =>
        isPassing === true ? [id] : [],
      );
    const took = (from: UnitId) => ({ ...v, unit: { ...v.unit, tookFrom: from } });
    const joins = (into: UnitId) => ({ ...u, unit: { ...u.unit, joins: into } });
    expect(passing("ACTIVE", u, v, other)).toEqual([]);
    expect(passing("ACTIVE", u, took(u.unit.id), other)).toEqual([u.unit.id, v.unit.id]);
    expect(passing("ACTIVE", joins(v.unit.id), v, other)).toEqual([u.unit.id, v.unit.id]);
    expect(passing("ACTIVE", u, took(other.unit.id), other)).toEqual([]);
    expect(passing("DRAINING", u, took(u.unit.id), other)).toEqual([]);
  });
});
