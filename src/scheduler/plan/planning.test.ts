import { describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import type { InstanceId } from "../../domain/ids.ts";
import { complete } from "../../domain/resumable.ts";
import { WHOLE } from "../policy.ts";
import { createRingMemo } from "../ring-memo.ts";
import { aCandidate, aSnapshot, aUnit, LONG_ABOVE, NOON, TRAITS, units } from "../testing/snapshots.ts";
import { planMoves } from "./plan-moves.ts";
import { DEFAULT_PLANNER_POLICY } from "./planner-policy.ts";
import { reEvaluates } from "./record.ts";
import type { PlanCandidate, PlanSnapshot, PlanUnit } from "./snapshot.ts";

const ringOf = createRingMemo()("eu/shared/public");
const budgets = { ...DEFAULT_PLANNER_POLICY.budgets, workspaces: WHOLE };
const plan = (snapshot: PlanSnapshot) => planMoves(snapshot, { policy: { ...DEFAULT_PLANNER_POLICY, budgets }, ringOf });
const name = (index: number) => `s${String(index).padStart(2, "0")}`;
const candidates = (count: number, of: (index: number) => Partial<PlanCandidate> = () => ({})) =>
  Array.from({ length: count }, (_, index) => aCandidate(name(index), of(index)));
const BELOW: Partial<PlanCandidate> = { traits: { ...TRAITS, isBelowFloor: true } };
const walkOf = (all: readonly PlanCandidate[], key: string) =>
  complete(ringOf(all.map(({ id, weight }) => ({ id, weight })))).candidates(key, DEFAULT_PLANNER_POLICY.placement.candidates);

describe("what is recorded of a choice", () => {
  const views = (snapshot: PlanSnapshot) => {
    const { records, report } = plan(snapshot);
    const [record] = [...records, ...report.unplaceable];
    expect(record !== undefined && reEvaluates(record)).toBe(true);
    return {
      record,
      ids: record?.question.views.map(({ id }) => id as string),
      refused: record?.answer.refusals.map(({ instance }) => instance),
    };
  };

  it("is the ring's candidates up to the one that was chosen, and why those before it were refused", () => {
    const all = candidates(20);
    const walk = walkOf(all, "u");
    const passed = walk.slice(0, 3);
    const closed = all.map((candidate) => (passed.includes(candidate.id) ? { ...candidate, ...BELOW } : candidate));
    const { record, ids, refused } = views(aSnapshot(closed, [aUnit("u", undefined, 10)]));
    expect(record?.answer).toMatchObject({ chosen: walk[3], rule: "SPILL", bound: 600_000 });
    expect([ids, refused]).toEqual([walk.slice(0, 4), passed]);
    expect(record?.question).toMatchObject({ key: "u", walk: 4, preferred: walk[0] });
  });

  it("is all candidates, the least loaded instance that was taken, and the eleven next to it, by id among equals", () => {
    const all = candidates(30);
    const walk = walkOf(all, "u");
    const others = all.map(({ id }) => id).filter((id) => !walk.includes(id));
    const [first, second, third] = others as [InstanceId, InstanceId, InstanceId, ...InstanceId[]];
    const closed = all.map((candidate) => (walk.includes(candidate.id) ? { ...candidate, ...BELOW } : candidate));
    const load = (id: string): number => (id === third ? 1 : id === second ? 2 : id === first ? 90 : 5);
    const held = others.map((id) => aUnit(`of-${id}`, id, load(id)));
    const { record, ids } = views(aSnapshot(closed, [...held, aUnit("u", undefined, 10)]));
    expect(record?.answer).toMatchObject({ chosen: third, rule: "LEAST_LOADED" });
    expect(ids).toEqual([...walk, third, second, ...others.slice(3, 13)]);
    expect(record?.question.walk).toBe(walk.length);
  });

  it("is all candidates and twelve more instances if nothing fits", () => {
    const all = candidates(30);
    const walk = walkOf(all, "u");
    const others = all.map(({ id }) => id).filter((id) => !walk.includes(id));
    const { record, ids, refused } = views(aSnapshot(all, [aUnit("u", undefined, 5_000)]));
    expect(record?.answer).toMatchObject({ chosen: undefined, rule: "NOTHING_FITS" });
    expect([ids, refused]).toEqual([
      [...walk, ...others.slice(0, 12)],
      [...walk, ...others.slice(0, 12)],
    ]);
  });

  it("leaves out the instance that the unit leaves, and counts other instances without the unit", () => {
    const all = [aCandidate("a", LONG_ABOVE), aCandidate("b"), aCandidate("c")];
    const { records } = plan(aSnapshot(all, [...units("a", 80, 10), ...units("b", 10, 10), ...units("c", 10, 10)]));
    for (const { question, answer } of records) {
      expect(question.views.map(({ id }) => id)).not.toContain("a");
      expect(question.load.applications).toBe(10);
      expect(answer.chosen).not.toBe("a");
    }
    const [first] = records;
    expect(first?.question.views.every(({ load }) => load.applications === 100)).toBe(true);
  });
});

describe("a unit that is considered", () => {
  const full = (change: Partial<PlanUnit>, more: readonly PlanUnit[] = []) =>
    plan(
      aSnapshot(
        [aCandidate("a", LONG_ABOVE), aCandidate("b"), aCandidate("c")],
        [...units("a", 80, 10, change), ...more, ...units("b", 10, 10), ...units("c", 10, 10)],
      ),
    );

  it("is left for the first reason that applies: a move under way, a hold, a former move", () => {
    const rule = (change: Partial<PlanUnit>) => full(change).report.left.shown[0]?.rule;
    const all = {
      ...{ doNotMoveUntil: millis(NOON + 1), movedAt: NOON, failed: { times: 1, at: NOON, to: "b" as InstanceId } },
    };
    expect(rule({ ...all, movingTo: "a" as InstanceId })).toBe("MOVING");
    expect(rule(all)).toBe("DO_NOT_MOVE");
    expect(rule({ ...all, doNotMoveUntil: NOON })).toBe("COOL_DOWN");
    expect(rule({ ...all, doNotMoveUntil: undefined, movedAt: undefined })).toBe("FAILED_BEFORE");
  });

  it("is left with its whole group if one of the group has to stay", () => {
    const group = { needs: { together: "t" } };
    const { moves, report } = full({ movedAt: NOON }, [
      aUnit("g1", "a", 10, group),
      aUnit("g2", "a", 10, { ...group, doNotMoveUntil: millis(NOON + 1) }),
    ]);
    expect(moves).toEqual([]);
    expect(report.left.shown.map(({ unit }) => unit)).toContain("a-000");
    expect(report.left.count).toBe(81);
  });

  it("records what blocks moves once, as it was the first time", () => {
    const { report } = planMoves(
      aSnapshot(
        [aCandidate("a", LONG_ABOVE), aCandidate("b"), aCandidate("c")],
        [...units("a", 80, 10, { clusters: ["k"] }), ...units("b", 10, 10)],
      ),
      { policy: { ...DEFAULT_PLANNER_POLICY, budgets: { ...budgets, movesPerCluster: 2 } }, ringOf },
    );
    expect(report.blockedBy).toEqual([{ rule: "CLUSTER_MOVES", subject: "k", used: 2, asked: 1, limit: 2 }]);
    expect(report.moves.SHED).toBe(2);
  });
});
