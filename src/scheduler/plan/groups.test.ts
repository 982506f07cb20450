import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import type { WorkspaceGroups } from "../../domain/groups.ts";
import type { InstanceId } from "../../domain/ids.ts";
import { complete } from "../../domain/resumable.ts";
import { createRingMemo } from "../ring-memo.ts";
import { aFacts, aRow, aUnitRow, unitRows } from "../testing/facts.ts";
import { aCandidate, anySnapshot, aSnapshot, aUnit, LONG_ABOVE, NOON, units } from "../testing/snapshots.ts";
import { assembleSnapshot, type PlanningUnit } from "./assemble.ts";
import { movingTogetherInTurns } from "./moving-together.ts";
import { planMoves } from "./plan-moves.ts";
import { DEFAULT_PLANNER_POLICY } from "./planner-policy.ts";
import type { PlanSnapshot, PlanUnit } from "./snapshot.ts";
import { openCarryingOut } from "./validate-step.ts";

const CUSTOMER = "class.argosy.dev/customer";
const RINGS = createRingMemo();
const of = (customer: string): Partial<PlanUnit> => ({ needs: { apartBy: { [CUSTOMER]: customer } } });
const plan = (snapshot: PlanSnapshot) => planMoves(snapshot, { policy: DEFAULT_PLANNER_POLICY, ringOf: RINGS("groups") });
const movesOf = (snapshot: PlanSnapshot) => plan(snapshot).moves.map(({ unit, from, to, reason }) => [unit, from, to, reason]);

describe("a plan keeps those apart who must be", () => {
  it("lets the fewer of two groups leave that share an instance, each to where no other is", () => {
    const snapshot = aSnapshot(
      [aCandidate("a"), aCandidate("b"), aCandidate("c")],
      [
        aUnit("a1", "a", 10, of("acme")),
        aUnit("a2", "a", 10, of("acme")),
        aUnit("e1", "a", 10, of("evil")),
        aUnit("o1", "b", 10, of("other")),
      ],
    );
    expect(movesOf(snapshot)).toEqual([["e1", "a", "c", "FORCED"]]);
    expect(plan(snapshot).records[0]?.cause).toMatchObject({
      rule: "MAY_NOT_STAY",
      ineligible: { rule: "APART", has: `${CUSTOMER}=acme` },
    });
  });

  it("leaves one where it is that could go nowhere, and says so", () => {
    const snapshot = aSnapshot(
      [aCandidate("a"), aCandidate("b")],
      [aUnit("a1", "a", 10, of("acme")), aUnit("e1", "a", 9, of("evil")), aUnit("o1", "b", 10, of("other"))],
    );
    const { moves, report } = plan(snapshot);
    expect(moves).toEqual([]);
    expect(report.unplaceable.map((each) => each.units)).toEqual([["e1"]]);
  });

  it("empties and sheds only to where no other group is, nor will be", () => {
    const draining = aSnapshot(
      [aCandidate("a", { state: "DRAINING" }), aCandidate("b"), aCandidate("c"), aCandidate("d")],
      [
        aUnit("a1", "a", 10, of("acme")),
        aUnit("o1", "b", 400, of("other")),
        aUnit("o2", "d", 5, { ...of("other"), movingTo: "c" as InstanceId }),
      ],
    );
    expect(movesOf(draining)).toEqual([]);
    const full = aSnapshot(
      [aCandidate("a", LONG_ABOVE), aCandidate("b"), aCandidate("c")],
      [...units("a", 9, 100, of("acme")), aUnit("o1", "b", 1, of("other"))],
    );
    expect(new Set(movesOf(full).map(([, , to]) => to))).toEqual(new Set(["c"]));
  });

  it("sends nobody to where its own group is and another one has not left yet", () => {
    const stuck = { needs: { apartBy: { [CUSTOMER]: "evil" }, pinnedTo: ["b" as InstanceId] } };
    const held = [
      aUnit("a1", "a", 10, of("acme")),
      aUnit("a2", "b", 10, of("acme")),
      aUnit("a3", "b", 10, of("acme")),
      aUnit("e1", "b", 10, stuck),
    ];
    expect(movesOf(aSnapshot([aCandidate("a", { state: "DRAINING" }), aCandidate("b")], held))).toEqual([]);
  });

  it("never brings two together, whatever the fleet is, in the order of its moves", () => {
    fc.assert(
      fc.property(anySnapshot, (snapshot) => {
        const values = new Map(snapshot.units.map(({ id, needs }) => [id, needs?.apartBy?.[CUSTOMER]]));
        const where = new Map(snapshot.units.map(({ id, owner }) => [id, owner]));
        const arriving = snapshot.units.flatMap(({ id, movingTo }) => (movingTo === undefined ? [] : [[id, movingTo] as const]));
        for (const { unit, to } of plan(snapshot).moves) {
          const own = values.get(unit);
          const there = [...where, ...arriving].filter(([id, instance]) => instance === to && id !== unit);
          const strangers = there.filter(([id]) => own !== undefined && values.get(id) !== undefined && values.get(id) !== own);
          expect({ unit, to, strangers }).toEqual({ unit, to, strangers: [] });
          where.set(unit, to);
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe("a step of a plan", () => {
  it("is dropped where somebody has come since from whom its unit must be apart", () => {
    const groups = (customer: string): Partial<PlanningUnit> => ({ groups: { apart: { [CUSTOMER]: customer } } });
    const [one, other] = [
      { ...aUnitRow("u", "a", 1), ...groups("acme") },
      { ...aUnitRow("o", "b", 1), ...groups("other") },
    ];
    const facts = aFacts([aRow("a"), aRow("b"), aRow("c")], [one, other]);
    const step = (to: InstanceId) => ({ unit: one.unit.id, from: one.unit.owner, to, epoch: one.unit.epoch, reason: "FORCED" as const });
    const carrying = openCarryingOut(facts, NOON);
    const [a, b, c] = facts.instances.map(({ id }) => id) as [InstanceId, InstanceId, InstanceId];
    expect(a).toBe(one.unit.owner);
    expect(carrying.judge(step(b))).toMatchObject({
      kind: "dropped",
      why: expect.stringContaining(`nobody but ${CUSTOMER}=acme is wanted, it has ${CUSTOMER}=other`),
    });
    expect(carrying.judge(step(c))).toMatchObject({ kind: "go" });
    carrying.made({ ...step(c), unit: other.unit.id, from: b });
    expect(carrying.judge(step(c))).toMatchObject({ kind: "dropped" });
  });
});

describe("workspaces of a group that lives together", () => {
  const together: WorkspaceGroups = { apart: {}, together: "class.argosy.dev/product=shop" };
  const row = (name: string, owner: string, over: Partial<PlanningUnit> = {}): PlanningUnit => ({
    ...aUnitRow(name, owner, 1),
    groups: together,
    ...over,
  });
  const namesOf = (rows: readonly PlanningUnit[]) => {
    const names = complete(movingTogetherInTurns(aFacts([aRow("a"), aRow("b")], rows)));
    return rows.map(({ unit }) => names.get(unit.id));
  };

  it("move as one where they live on one instance, and others do not", () => {
    const [first, second, away, free] = namesOf([row("1", "a"), row("2", "a"), row("3", "b"), aUnitRow("4", "a", 1)]);
    expect(first).toBe(second);
    expect(first).toBeDefined();
    expect([away, free]).toEqual([undefined, undefined]);
  });

  it("move alone where one is pinned, is moved, or must be apart from others than the rest", () => {
    const said = { actor: "otto", reason: "test", at: millis(0) };
    const odd: readonly Partial<PlanningUnit>[] = [
      { directive: { pin: { kind: "pool", pool: "standard", ...said }, hold: undefined } },
      { movingTo: "b" as InstanceId },
      { groups: { ...together, apart: { [CUSTOMER]: "acme" } } },
    ];
    for (const over of odd) expect(namesOf([row("1", "a"), row("2", "a", over)])).toEqual([undefined, undefined]);
  });

  it("move one by one where they are too large to find room as one", () => {
    const facts = aFacts([aRow("a"), aRow("b")], [row("1", "a"), row("2", "a")]);
    const large = {
      ...facts,
      instances: facts.instances.map((each) => ({ ...each, capacity: { ...each.capacity, applications: 7 } })),
    };
    expect(complete(movingTogetherInTurns(large)).size).toBe(0);
  });

  it("leave an instance that is emptied together", () => {
    const facts = aFacts([{ ...aRow("a"), state: "DRAINING" }, aRow("b"), aRow("c")], [row("1", "a"), row("2", "a"), row("3", "a")]);
    const { moves } = plan(assembleSnapshot(facts, NOON));
    expect(moves).toHaveLength(3);
    expect(new Set(moves.map(({ to }) => to)).size).toBe(1);
  });

  describe("that leave an emptied instance one after the other", () => {
    const instances = [{ ...aRow("a"), state: "DRAINING" } as const, aRow("b"), aRow("c"), { ...aRow("d"), state: "CORDONED" } as const];
    /** Where one goes that is left, with these others of its group. */
    const goesTo = (others: readonly PlanningUnit[], over: Partial<PlanningUnit> = {}) => {
      const left = row("left", "a", over);
      return plan(assembleSnapshot(aFacts(instances, [left, ...others]), NOON)).moves.find(({ unit }) => unit === left.unit.id)?.to;
    };
    const to = (name: string) => aRow(name).id;

    it.each(["b", "c"])("meet on %s, where one of them is being moved to or lives by now", (name) => {
      expect(goesTo([row("under way", "a", { movingTo: to(name) })])).toBe(to(name));
      expect(goesTo([row("there", name)])).toBe(to(name));
    });

    it.each([
      ["b", "c"],
      ["c", "b"],
    ])("meet on %s, where more of them live than on %s, and not where nobody may come", (most, fewer) => {
      const others = [row("1", fewer), row("2", most), row("3", most), ...["4", "5", "6"].map((each) => row(each, "d"))];
      expect(goesTo(others)).toBe(to(most));
    });

    it.each(["a", "c"])("meet on %s, where the most live besides those of its own instance", (name) => {
      const apart = (customer: string) => ({ apart: { [CUSTOMER]: customer } });
      const own = { groups: { ...together, ...apart("acme") } };
      const strangers = ["s1", "s2", "s3"].map((each) => aUnitRow(each, "b", 1, { groups: apart("evil") }));
      const left = row("left", "b", own);
      const facts = aFacts(
        [aRow("a"), aRow("b"), aRow("c")],
        [left, row("stays 1", "b"), row("stays 2", "b"), row("there", name, own), ...strangers],
      );
      const moves = plan(assembleSnapshot(facts, NOON)).moves.map((move) => [move.unit, move.to]);
      expect(moves).toContainEqual([left.unit.id, to(name)]);
    });

    it("go elsewhere where there is no room, or somebody from whom one must be apart", () => {
      const alone = goesTo([]);
      const other = alone === to("b") ? "c" : "b";
      const stranger = aUnitRow("stranger", other, 1, { groups: { apart: { [CUSTOMER]: "evil" } } });
      const mine = { groups: { ...together, apart: { [CUSTOMER]: "acme" } } };
      expect(goesTo([row("there", other, mine)], mine)).toBe(to(other));
      expect(goesTo([row("there", other), stranger], mine)).toBe(alone);
      expect(goesTo([row("there", other), ...unitRows(other, 5, 100)])).toBe(to(other));
      expect(goesTo([row("there", other), ...unitRows(other, 7, 100)])).toBe(alone);
    });

    it("do not follow those of another group", () => {
      const alone = goesTo([]);
      const other = alone === to("b") ? "c" : "b";
      expect(goesTo([row("there", other, { groups: { apart: {}, together: "class.argosy.dev/product=bank" } })])).toBe(alone);
    });
  });
});

it("takes a unit without groups as one that anybody may live with", () => {
  expect(movesOf(aSnapshot([aCandidate("a"), aCandidate("b")], [aUnit("a1", "a", 10, of("acme")), aUnit("f1", "a", 10)]))).toEqual([]);
});
