import { describe, expect, it } from "vitest";
import type { InstanceId } from "../../domain/ids.ts";
import { loadVector } from "../../domain/load.ts";
import { createRingMemo } from "../ring-memo.ts";
import { aCandidate, aSnapshot, aUnit, TRAITS } from "../testing/snapshots.ts";
import { planMoves } from "./plan-moves.ts";
import { reEvaluates } from "./record.ts";
import type { PlanCandidate, PlanSnapshot, PlanUnit } from "./snapshot.ts";

const ringOf = createRingMemo()("eu/shared/public");
const plan = (snapshot: PlanSnapshot) => planMoves(snapshot, { ringOf });
const CANDIDATES = ["c", "b", "a"].map((name) => aCandidate(name));
const together = { needs: { together: "t" } };
/** A group that lives together, one member on each of these instances. */
const group = (...owners: readonly (string | undefined)[]): readonly PlanUnit[] =>
  owners.map((owner, index) => aUnit(`u${index}`, owner, 10, together));
const causeOf = (held: readonly PlanUnit[], candidates: readonly PlanCandidate[] = CANDIDATES) =>
  plan(aSnapshot(candidates, held)).records[0]?.cause;
const steps = (snapshot: PlanSnapshot) => plan(snapshot).moves.map(({ unit, to }) => `${unit} ${to}`);

describe("why something has to move", () => {
  it.each<readonly [what: string, held: readonly PlanUnit[], cause: object]>([
    ["it has no instance", [aUnit("u", undefined, 10)], { rule: "UNPLACED" }],
    ["its instance is gone", [aUnit("u", "gone", 10)], { rule: "OWNER_GONE", instance: "gone", known: ["a", "b", "c"] }],
    ["its group is in several places", group("c", "a", "b"), { rule: "SPREAD", instances: ["a", "b", "c"] }],
    ["its group got a new member", group("b", undefined), { rule: "UNPLACED" }],
    ["its whole group is nowhere", group(undefined, undefined), { rule: "UNPLACED" }],
    ["a new member's group was on an instance that is gone", group(undefined, "gone"), { rule: "OWNER_GONE", instance: "gone" }],
    [
      "its workspace is pinned elsewhere",
      [aUnit("u", "a", 10, { needs: { pinnedTo: ["b" as InstanceId] } })],
      { rule: "MAY_NOT_STAY", ineligible: { instance: "a", rule: "PINNED", wants: "b", has: "a" } },
    ],
  ])("is that %s", (_what, held, cause) => {
    expect(causeOf(held)).toMatchObject(cause);
  });

  it("does not exist if a group is all on one instance that keeps it, or if a member is on its way", () => {
    expect(steps(aSnapshot(CANDIDATES, group("b", "b", "b")))).toEqual([]);
    const [first, ...others] = group("a", "b", "c") as [PlanUnit, ...PlanUnit[]];
    expect(steps(aSnapshot(CANDIDATES, [{ ...first, movingTo: "b" as InstanceId }, ...others]))).toEqual([]);
  });

  it("does not exist on a cordoned instance, which keeps its units", () => {
    const candidates = [aCandidate("a", { state: "CORDONED" }), aCandidate("b")];
    expect(steps(aSnapshot(candidates, [aUnit("u", "a", 10), aUnit("v", "a", 10, { needs: { pinnedTo: ["a" as InstanceId] } })]))).toEqual(
      [],
    );
  });
});

describe("a group that comes together", () => {
  it("does so where most of its units are, among equals on the instance with the first id", () => {
    expect(steps(aSnapshot(CANDIDATES, group("a", "b", "b")))).toEqual(["u0 b"]);
    expect(steps(aSnapshot(CANDIDATES, group("c", "b")))).toEqual(["u0 b"]);
    expect(steps(aSnapshot(CANDIDATES, group("b", "c")))).toEqual(["u1 b"]);
    // Also where the ring would put the group elsewhere.
    for (const host of ["a", "b", "c"])
      expect(steps(aSnapshot(CANDIDATES, group(undefined, undefined, host)))).toEqual([`u0 ${host}`, `u1 ${host}`]);
  });

  it("may fill its instance up to the hard limit, and says so", () => {
    const candidates = [aCandidate("a"), aCandidate("b")];
    const [one, other] = group("a", "b") as [PlanUnit, PlanUnit];
    const at = (rest: number) => plan(aSnapshot(candidates, [aUnit("rest", "a", rest), one, other]));
    const [record, ...more] = at(880).records;
    expect(at(880).moves).toMatchObject([{ unit: "u1", to: "a" }]);
    expect([record?.answer, more]).toEqual([{ chosen: "a", bound: 900_000, rule: "NAMED", refusals: [] }, []]);
    expect(record !== undefined && reEvaluates(record)).toBe(true);
    expect(at(881).moves).toMatchObject([{ unit: "u0", to: "b" }]);
  });

  it("is placed anew as a whole if the instance of some of its units is gone", () => {
    const { records } = plan(aSnapshot(CANDIDATES, group("a", "gone")));
    expect(records).toMatchObject([{ units: ["u0", "u1"], cause: { rule: "OWNER_GONE" } }]);
    expect(records[0]?.answer.rule).not.toBe("NAMED");
  });
});

describe("the order in which what has to move is placed", () => {
  /** Instances that take units have a mean capacity of 2,000: from 40 on a unit is big. The one that is emptied does not count. */
  const candidates = [
    aCandidate("old", { state: "DRAINING", capacity: loadVector(() => 90_000), traits: { ...TRAITS, isBelowFloor: true } }),
    aCandidate("x", { capacity: loadVector(() => 1_000) }),
    aCandidate("y", { capacity: loadVector(() => 3_000) }),
  ];
  const order = (sizes: readonly number[]) =>
    plan(
      aSnapshot(
        candidates,
        sizes.map((size, index) => aUnit(`u${String(index).padStart(2, "0")}`, "old", size)),
      ),
    ).moves.map(({ unit }) => Number(unit.slice(1)));
  const ids = Array.from({ length: 16 }, (_, index) => index);

  it("begins with big units, the largest first", () => {
    const sizes = [1, 39, 40, 39, 60, 5, 41, 39, 45, 2, 39, 44, 39, 39, 42, 43];
    expect(order(sizes).slice(0, 7)).toEqual([4, 8, 11, 15, 14, 6, 2]);
  });

  it("goes on in an order that has nothing to do with size or name", () => {
    const rest = order(ids.map((id) => 1 + id));
    expect(order(ids.map((id) => 39 - id))).toEqual(rest);
    expect(rest.toSorted((a, b) => a - b)).toEqual(ids);
    expect(rest).not.toEqual(ids);
    expect(rest).not.toEqual(ids.toReversed());
  });

  it("depends on the dimension in which a unit is largest", () => {
    const wide = (name: string, milliCpu: number) => aUnit(name, "old", 1, { load: { ...loadVector(() => 1), milliCpu } });
    const { moves } = plan(aSnapshot(candidates, [wide("u0", 50), wide("u1", 70), wide("u2", 60), aUnit("u3", "old", 65)]));
    expect(moves.map(({ unit }) => unit)).toEqual(["u1", "u3", "u2", "u0"]);
  });
});

describe("two parts of a workspace on one instance", () => {
  const parts = (more: Partial<PlanUnit>) =>
    ["u0", "u1"].map((name) => aUnit(name, "a", 10, { workspaceId: "w" as PlanUnit["workspaceId"], ...more }));

  it("go apart, but not while applications pass from one to the other: whoever cuts and joins moves them", () => {
    expect(steps(aSnapshot(CANDIDATES, parts({})))).toHaveLength(1);
    expect(steps(aSnapshot(CANDIDATES, parts({ isPassing: true })))).toEqual([]);
    const full = CANDIDATES.map((candidate) => ({ ...candidate, isOverloaded: candidate.name === "a" }));
    expect(steps(aSnapshot(full, [...parts({ isPassing: true }), aUnit("v", "a", 800)])).filter((step) => step.startsWith("u"))).toEqual(
      [],
    );
  });
});
