import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { InstanceId, UnitId } from "../../domain/ids.ts";
import { LOAD_DIMENSIONS, loadVector, ZERO_LOAD } from "../../domain/load.ts";
import { DEFAULT_POLICY, WHOLE } from "../policy.ts";
import { createRingMemo } from "../ring-memo.ts";
import { aCandidate, anySnapshot, apps, aSnapshot, aUnit, LONG_ABOVE, NOON, ROOMY, TRAITS, units } from "../testing/snapshots.ts";
import { reEvaluatesBlockedBy } from "./budget.ts";
import { nextAbove } from "./next-class-state.ts";
import { planMoves } from "./plan-moves.ts";
import { DEFAULT_PLANNER_POLICY, type PlannerPolicy } from "./planner-policy.ts";
import { reEvaluates, reEvaluatesStay } from "./record.ts";
import type { PlanSnapshot } from "./snapshot.ts";

const RUNS = { numRuns: 150 };
const ringOf = createRingMemo()("eu/shared/public");
/** Budgets that a fleet of a few dozen units does not run into. */
const LOOSE: PlannerPolicy = {
  ...DEFAULT_PLANNER_POLICY,
  budgets: { ...DEFAULT_PLANNER_POLICY.budgets, workspaces: WHOLE, movesPerPlan: 1_000, movesPerHour: 1_000, movesPerInstance: 1_000 },
};
const plan = (snapshot: PlanSnapshot, policy = LOOSE) => planMoves(snapshot, { policy, ringOf });

/** What each instance carries with its units, and with those on their way to it. */
function loadsOf(snapshot: PlanSnapshot, owners: ReadonlyMap<string, string | undefined>) {
  const on = (candidate: string) => snapshot.units.filter(({ id, movingTo }) => owners.get(id) === candidate || movingTo === candidate);
  return new Map(
    snapshot.candidates.map(({ id }) => [id as string, loadVector((d) => on(id).reduce((sum, { load }) => sum + load[d], 0))]),
  );
}
const ownersOf = (snapshot: PlanSnapshot) => new Map<string, string | undefined>(snapshot.units.map(({ id, owner }) => [id, owner]));

describe("a plan", () => {
  it("is the same whatever order the rows come in, and whatever instances are called", () => {
    fc.assert(
      fc.property(anySnapshot, fc.infiniteStream(fc.nat()), (snapshot, draws) => {
        const shuffle = <T>(rows: readonly T[]): T[] =>
          rows
            .map((row) => ({ row, at: draws.next().value as number }))
            .sort((a, b) => a.at - b.at)
            .map(({ row }) => row);
        const again = plan({
          ...snapshot,
          candidates: shuffle(snapshot.candidates).map((candidate) => ({ ...candidate, name: `called ${candidate.id}` })),
          units: shuffle(snapshot.units),
        });
        expect(again).toEqual(plan(snapshot));
      }),
      RUNS,
    );
  });

  it("has the same bounds, forced units and lower bound if every id is another one", () => {
    fc.assert(
      fc.property(anySnapshot, (snapshot) => {
        // Only what does not depend on the ring, which works by ids.
        const renamed = (id: string | undefined) => (id === undefined ? undefined : (`z${id}` as InstanceId));
        const again: PlanSnapshot = {
          ...snapshot,
          candidates: snapshot.candidates.map((candidate) => ({ ...candidate, id: renamed(candidate.id) as InstanceId })),
          units: snapshot.units.map(({ needs, ...unit }) => ({
            ...unit,
            id: `z${unit.id}` as UnitId,
            owner: renamed(unit.owner),
            movingTo: renamed(unit.movingTo),
            needs: needs?.pinnedTo === undefined ? needs : { pinnedTo: needs.pinnedTo.map((id) => renamed(id) as InstanceId) },
          })),
        };
        const [a, b] = [plan(snapshot).report, plan(again).report];
        const pick = ({ mean, bound, shedTo, before, lowerBound }: typeof a) => [
          mean,
          bound,
          shedTo,
          before.share,
          before.above,
          lowerBound,
        ];
        expect(pick(b)).toEqual(pick(a));
      }),
      RUNS,
    );
  });

  it("puts no instance above 90 % in any dimension, after any of its steps, that was not there before", () => {
    fc.assert(
      fc.property(anySnapshot, (snapshot) => {
        const owners = ownersOf(snapshot);
        for (const { unit, to } of plan(snapshot).moves) {
          owners.set(unit, to);
          const candidate = snapshot.candidates.find(({ id }) => id === to);
          // A group that comes together arrives unit by unit; the last of them decides.
          if (snapshot.units.find(({ id }) => id === unit)?.needs?.together !== undefined) continue;
          const load = loadsOf(snapshot, owners).get(to) ?? ZERO_LOAD;
          for (const d of LOAD_DIMENSIONS)
            expect(load[d] * WHOLE).toBeLessThanOrEqual((candidate?.capacity[d] ?? 0) * DEFAULT_POLICY.hardLimit);
        }
      }),
      RUNS,
    );
  });

  it("puts every unit that had to move on an ACTIVE instance, or reports it", () => {
    fc.assert(
      fc.property(anySnapshot, (snapshot) => {
        const { moves, report } = plan(snapshot);
        const to = new Map<string, string>(moves.map((move) => [move.unit, move.to]));
        const active = new Set<string>(snapshot.candidates.filter(({ state }) => state === "ACTIVE").map(({ id }) => id));
        const keeping = new Set<string>(
          snapshot.candidates.filter(({ state }) => ["ACTIVE", "CORDONED"].includes(state)).map(({ id }) => id),
        );
        const reported = new Set<string>(report.unplaceable.flatMap((record) => record.units));
        const inFlight = new Set(
          snapshot.units.filter(({ movingTo }) => movingTo !== undefined).map(({ needs, id }) => needs?.together ?? id),
        );
        for (const { id, owner, needs } of snapshot.units) {
          const target = to.get(id);
          if (target !== undefined) expect(active).toContain(target);
          else if (!keeping.has(owner ?? "") && !inFlight.has(needs?.together ?? id)) expect(reported).toContain(id);
        }
      }),
      RUNS,
    );
  });

  it("moves each unit once at most, and none that is on its way, held or cooling down, unless it is forced", () => {
    fc.assert(
      fc.property(anySnapshot, (snapshot) => {
        const { moves } = plan(snapshot);
        expect(new Set(moves.map(({ unit }) => unit)).size).toBe(moves.length);
        for (const { unit, reason, from, to } of moves) {
          expect(from).not.toBe(to);
          const row = snapshot.units.find(({ id }) => id === unit);
          expect(row?.movingTo).toBeUndefined();
          if (reason === "FORCED") continue;
          expect(row?.doNotMoveUntil).toBeUndefined();
          const isHot = reason === "HOT" || reason === "SWAP";
          if (!isHot) expect(row?.movedAt).toBeUndefined();
        }
      }),
      RUNS,
    );
  });

  it("never puts two units of a workspace, or of an `apart` group, on one instance", () => {
    fc.assert(
      fc.property(anySnapshot, (snapshot) => {
        const owners = ownersOf(snapshot);
        const { moves } = plan(snapshot);
        for (const { unit, to } of moves) owners.set(unit, to);
        for (const { unit, to } of moves) {
          const row = snapshot.units.find(({ id }) => id === unit);
          const others = snapshot.units.filter(({ id }) => id !== unit && owners.get(id) === to);
          expect(others.filter(({ workspaceId }) => workspaceId === row?.workspaceId).map(({ id }) => id)).toEqual([]);
          const group = row?.needs?.apart;
          if (group !== undefined) expect(others.filter(({ needs }) => needs?.apart === group)).toEqual([]);
        }
      }),
      RUNS,
    );
  });

  it("stays within every budget", () => {
    const budgets = { ...DEFAULT_PLANNER_POLICY.budgets, movesPerPlan: 3, movesPerInstance: 2, workspaces: 100_000, hotFactor: 2 };
    fc.assert(
      fc.property(anySnapshot, (snapshot) => {
        const { moves } = plan(snapshot, { ...DEFAULT_PLANNER_POLICY, budgets });
        const voluntary = moves.filter(({ reason }) => reason === "SHED" || reason === "FILL");
        const workspaces = new Set(snapshot.units.map(({ workspaceId }) => workspaceId)).size;
        const moved = new Set(voluntary.map(({ unit }) => snapshot.units.find(({ id }) => id === unit)?.workspaceId));
        expect(voluntary.length).toBeLessThanOrEqual(budgets.movesPerPlan);
        expect(moved.size).toBeLessThanOrEqual(Math.max(1, Math.floor(workspaces / 10)));
        for (const { id } of snapshot.candidates) {
          expect(voluntary.filter(({ from, to }) => from === id || to === id).length).toBeLessThanOrEqual(budgets.movesPerInstance);
          const all = moves.filter(({ reason, from, to }) => reason !== "FORCED" && (from === id || to === id));
          expect(all.length).toBeLessThanOrEqual(budgets.movesPerInstance * budgets.hotFactor);
        }
      }),
      RUNS,
    );
  });

  it("can be explained: every move, refusal and stay, and whatever blocked it, follows from what is recorded with it, read back from JSON (P5)", () => {
    fc.assert(
      fc.property(anySnapshot, (snapshot) => {
        const { records, moves, report } = JSON.parse(JSON.stringify(plan(snapshot))) as ReturnType<typeof plan>;
        const explained = new Set(records.flatMap((record) => record.units));
        for (const { unit } of moves) expect(explained).toContain(unit);
        for (const record of [...records, ...report.unplaceable, ...report.withoutCandidate]) expect(reEvaluates(record)).toBe(true);
        for (const stay of report.left.shown) expect(reEvaluatesStay(stay)).toBe(true);
        for (const blockedBy of report.blockedBy) expect(reEvaluatesBlockedBy(blockedBy)).toBe(true);
      }),
      RUNS,
    );
  });

  it("leaves nothing to move once it was carried out, as long as no unit has to move", () => {
    fc.assert(
      fc.property(anySnapshot, (snapshot) => {
        const calm: PlanSnapshot = {
          ...snapshot,
          candidates: snapshot.candidates.map((candidate) => ({ ...candidate, isOverloaded: false, isFilling: false })),
        };
        const first = plan(calm);
        const owners = new Map<string, InstanceId>(first.moves.map(({ unit, to }) => [unit, to]));
        const after: PlanSnapshot = {
          ...calm,
          units: calm.units.map((unit) => ({ ...unit, owner: owners.get(unit.id) ?? unit.owner })),
        };
        const above = nextAbove(after, LOOSE);
        const candidates = after.candidates.map((candidate) => ({
          ...candidate,
          aboveSince: above.has(candidate.id) ? candidate.aboveSince : undefined,
        }));
        const again = plan({ ...after, candidates }).moves.filter(({ reason }) => reason === "FORCED");
        // What could not be placed may find room after others moved; what was placed stays.
        for (const { unit } of again) expect(owners.has(unit)).toBe(false);
      }),
      RUNS,
    );
  });
});

describe("between the limits", () => {
  it("nothing moves, however uneven the instances are", () => {
    const uneven = [...units("a", 10, 60), ...units("b", 1, 10)];
    expect(plan(aSnapshot([aCandidate("a", LONG_ABOVE), aCandidate("b", LONG_ABOVE)], uneven)).moves).toEqual([]);
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 600 }), { minLength: 1, maxLength: 8 }), (loads) => {
        const candidates = loads.map((_, index) => aCandidate(`s${index}`, LONG_ABOVE));
        const held = loads.flatMap((load, index) => [
          aUnit(`u${index}a`, `s${index}`, Math.floor(load / 2)),
          aUnit(`u${index}b`, `s${index}`, Math.ceil(load / 2)),
        ]);
        expect(plan(aSnapshot(candidates, held)).moves).toEqual([]);
      }),
    );
  });

  it("nothing moves up to 1.10 × the mean above 60 %, and something does beyond", () => {
    const at = (full: number) =>
      aSnapshot(
        [aCandidate("a", LONG_ABOVE), ...["b", "c", "d", "e"].map((name) => aCandidate(name))],
        [...units("a", full / 10, 10), ...["b", "c", "d", "e"].flatMap((name) => units(name, 70, 10))],
      );
    expect(plan(at(780)).moves).toEqual([]);
    expect(plan(at(800)).moves.map(({ from, reason }) => `${from} ${reason}`)).toEqual(Array.from({ length: 5 }, () => "a SHED"));
  });

  it("leaves units where they are, although the ring would put most of them elsewhere (P5)", () => {
    const candidates = ["a", "b", "c"].map((name) => aCandidate(name));
    const held = Array.from({ length: 30 }, (_, index) => aUnit(`u${index}`, "abc"[index % 3], 10));
    expect(plan(aSnapshot(candidates, held)).moves).toEqual([]);
  });
});

describe("a plan for an impossible fleet", () => {
  it("reports every unit of a class without instances, and throws nothing", () => {
    const { moves, report } = plan(aSnapshot([], [aUnit("u", undefined, 1), aUnit("v", "gone", 1)]));
    expect(moves).toEqual([]);
    expect(report.unplaceable.map(({ units: each, cause }) => `${each.join()} ${cause.rule}`).sort()).toEqual([
      "u UNPLACED",
      "v OWNER_GONE",
    ]);
    expect(plan(aSnapshot([], [])).report).toMatchObject({ mean: 0, before: { worst: undefined, share: 0, overMean: 0 } });
  });

  it("reports a unit whose pins contradict each other, with the demand that no instance meets", () => {
    const candidates = ["a", "b"].map((name) => aCandidate(name));
    const needs = [
      { pinnedTo: [] },
      { pinnedTo: ["a" as InstanceId], notOn: ["a" as InstanceId] },
      { pinnedTo: ["nowhere" as InstanceId] },
      { region: "moon" },
    ];
    const { moves, report } = plan(
      aSnapshot(
        candidates,
        needs.map((each, index) => aUnit(`u${index}`, undefined, 1, { needs: each })),
      ),
    );
    expect(moves).toEqual([]);
    const rules = report.unplaceable.map(
      ({ units: [unit], answer }) =>
        `${unit} ${answer.refusals
          .map(({ rule }) => rule)
          .sort()
          .join(" ")}`,
    );
    expect(rules.sort()).toEqual(["u0 PINNED PINNED", "u1 NOT_ON PINNED", "u2 PINNED PINNED", "u3 REGION REGION"]);
  });

  it("reports a group that should live together and apart at once", () => {
    const needs = { together: "t", apart: "x" };
    const held = [aUnit("u", undefined, 1, { needs }), aUnit("v", undefined, 1, { needs })];
    const { moves, report } = plan(aSnapshot([aCandidate("a"), aCandidate("b")], held));
    expect(moves).toEqual([]);
    expect(report.unplaceable).toMatchObject([{ units: ["u", "v"], answer: { rule: "NOTHING_FITS" } }]);
  });

  it("places no unit with load on an instance without capacity", () => {
    const { moves, report } = plan(
      aSnapshot([aCandidate("a", { capacity: ZERO_LOAD })], [aUnit("u", undefined, 1), aUnit("v", undefined, 0)]),
    );
    expect(moves.map(({ unit }) => unit)).toEqual(["v"]);
    expect(report.unplaceable).toMatchObject([{ units: ["u"] }]);
  });

  it("names twenty of a thousand instances of which none fits, and leaves the bound of the others alone", () => {
    // Each has one point of the ring only: hashing a hundred thousand would take longer than all other tests.
    const candidates = Array.from({ length: 1_000 }, (_, index) => aCandidate(`s${index}`, { weight: 0.01 }));
    const { moves, report } = plan(aSnapshot(candidates, [aUnit("huge", undefined, 5_000), aUnit("u", "s1", 10)]));
    expect(moves).toEqual([]);
    expect(report.unplaceable).toHaveLength(1);
    expect(report.unplaceable[0]?.question.views).toHaveLength(20);
    expect(report.mean).toBe(10);
  });

  it("counts impossible loads as zero, and moves the rest", () => {
    const impossible = [Number.NaN, -5, Number.POSITIVE_INFINITY, 1e300, 0.5];
    const candidates = [aCandidate("a", { state: "DRAINING" }), aCandidate("b", { capacity: loadVector(() => 1e9) })];
    const held = impossible.map((load, index) => aUnit(`u${index}`, "a", load));
    const { moves, report } = plan(aSnapshot(candidates, held));
    expect(moves.map(({ unit }) => unit).sort()).toEqual(["u0", "u1", "u4"]);
    expect(report.unplaceable.flatMap(({ units: each }) => each).sort()).toEqual(["u2", "u3"]);
    const strange = [
      aCandidate("a", { capacity: { ...ROOMY, milliCpu: Number.NaN } }),
      aCandidate("b", { capacity: { ...ROOMY, milliCpu: -1 } }),
    ];
    expect(() => plan(aSnapshot(strange, [aUnit("u", "a", 10, { recentLoad: apps(Number.NaN) })]))).not.toThrow();
  });

  it("does not fail if an instance or unit is there twice", () => {
    const candidates = [aCandidate("a"), aCandidate("a"), aCandidate("b", { state: "RETIRED" })];
    expect(() => plan(aSnapshot(candidates, [aUnit("u", "b", 1), aUnit("u", "b", 1)], { at: NOON }))).not.toThrow();
  });

  it("keeps units off instances that are dedicated to others, below the floor or of another trust", () => {
    const candidates = [
      aCandidate("own", { traits: { ...TRAITS, dedication: "acme" } }),
      aCandidate("old", { traits: { ...TRAITS, isBelowFloor: true } }),
      aCandidate("inner", { traits: { ...TRAITS, trust: "internal", dedication: "ops" } }),
      aCandidate("free"),
    ];
    const held = [
      aUnit("plain", undefined, 1),
      aUnit("acme", undefined, 1, { needs: { dedication: "acme" } }),
      aUnit("ops", undefined, 1, { needs: { dedication: "ops", trust: "internal" } }),
      aUnit("stays", "old", 1),
      aUnit("intruder", "own", 1),
    ];
    const to = Object.fromEntries(plan(aSnapshot(candidates, held)).moves.map((move) => [move.unit, move.to]));
    expect(to).toEqual({ plain: "free", acme: "own", ops: "inner", intruder: "free" });
  });
});
