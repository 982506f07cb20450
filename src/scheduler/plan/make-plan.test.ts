import { describe, expect, it } from "vitest";
import { type Millis, millis } from "../../domain/clock.ts";
import type { Freeze, Hold, Pin } from "../../domain/directive.ts";
import type { InstanceId, PlanId } from "../../domain/ids.ts";
import { loadVector, ZERO_LOAD } from "../../domain/load.ts";
import { complete } from "../../domain/resumable.ts";
import { aFacts, aReport, aRow, aUnitRow, longAbove, unitRows } from "../testing/facts.ts";
import { HOUR_MS, NOON } from "../testing/snapshots.ts";
import type { PlanningFacts } from "./assemble.ts";
import { reEvaluatesBlockedBy } from "./budget.ts";
import { describePlan } from "./describe-plan.ts";
import { type Goal, type MadePlan, makePlan } from "./make-plan.ts";
import { hashesInTurns } from "./plan-moves.ts";
import { reEvaluates } from "./record.ts";
import { storedPlanOf } from "./stored-plan.ts";

const [A, B] = [aRow("a"), aRow("b")];
const said = { actor: "otto", reason: "test", at: NOON };
const make = (facts: PlanningFacts, goal: Goal = { kind: "rebalance" }, at: Millis = NOON) => makePlan(facts, goal, { at });
const hashesOf = ({ snapshot, plan }: MadePlan) => complete(hashesInTurns(snapshot, plan));
const textOf = (facts: PlanningFacts, goal: Goal = { kind: "rebalance" }) => {
  const plan = storedPlanOf(make(facts, goal), {
    id: "p-1" as PlanId,
    goal: goal.kind,
    subject: goal.instance?.name ?? "",
    actor: "otto",
    at: NOON,
  });
  return describePlan(JSON.parse(JSON.stringify(plan)) as typeof plan);
};
/** One instance that has been far above the bound for hours, one with spare capacity. */
const SKEWED = aFacts([A, B], [...unitRows("a", 18, 50), ...unitRows("b", 2, 50)], longAbove("a"));
const voluntary = (facts: PlanningFacts, at = NOON) =>
  make(facts, { kind: "rebalance" }, at).plan.moves.filter(({ reason }) => reason !== "FORCED");

describe("plans made from rows", () => {
  it("shed an instance that has been too full for hours, and every choice can be made again", () => {
    const { plan } = make(SKEWED);
    expect(plan.moves.length).toBeGreaterThan(0);
    expect(plan.moves.every(({ reason, from, to, epoch }) => reason === "SHED" && from === A.id && to === B.id && epoch === 7)).toBe(true);
    expect(plan.records.every(reEvaluates)).toBe(true);
  });

  it("are the same whatever order the rows come in, and name what they are about", () => {
    const again = make({ ...SKEWED, units: SKEWED.units.toReversed(), instances: SKEWED.instances.toReversed() });
    expect(hashesOf(again)).toEqual(hashesOf(make(SKEWED)));
    expect(Object.values(again.document.names.units).every((name) => name.startsWith("a-"))).toBe(true);
  });

  it("move as many workspaces within an hour as one plan may without an approver, where moves are declared", () => {
    const rebalancing = { class: "eu/shared/public", mode: "auto", movesPerHour: 50, movesPerDay: 500 } as const;
    const moved = (workspaces: number, over: Partial<PlanningFacts> = {}) =>
      voluntary(aFacts([A, B], unitRows("a", workspaces, Math.floor(900 / workspaces)), { ...longAbove("a"), ...over })).length;
    expect(moved(18)).toBe(1);
    expect(moved(18, { rebalancing })).toBe(5);
    expect(moved(100, { rebalancing })).toBe(10);
    expect(moved(100, { rebalancing: { ...rebalancing, movesPerHour: 7 } })).toBe(7);
  });

  it("leave a held workspace, and one that is pinned here, and send one that is pinned elsewhere", () => {
    const hold: Hold = { ...said, until: millis(NOON + HOUR_MS) };
    const pin = (kind: Partial<Pin>): Pin => ({ ...said, ...kind }) as Pin;
    const held = SKEWED.units.map((unit) => ({ ...unit, directive: { pin: undefined, hold } }));
    const stays = make({ ...SKEWED, units: held });
    expect(stays.plan.moves).toEqual([]);
    expect(stays.document.left.shown[0]).toMatchObject({ rule: "DO_NOT_MOVE", until: hold.until });
    const here = pin({ kind: "instance", instance: A.id });
    expect(
      make({ ...SKEWED, units: SKEWED.units.map((unit) => ({ ...unit, directive: { pin: here, hold: undefined } })) }).plan.moves,
    ).toEqual(expect.not.arrayContaining([expect.objectContaining({ from: A.id })]));
    const there = aUnitRow("x", "a", 10, { directive: { pin: pin({ kind: "instance", instance: B.id }), hold } });
    expect(make(aFacts([A, B], [there])).plan.moves).toMatchObject([{ from: A.id, to: B.id, reason: "FORCED" }]);
  });

  it("move nothing that need not be moved while a freeze holds, and drain all the same", () => {
    const freeze: Freeze = { ...said, name: "launch", reason: "big day", schedule: undefined, durationMs: HOUR_MS };
    const frozen = { ...SKEWED, freezes: [{ ...freeze, name: "old", at: millis(NOON - 9 * HOUR_MS) }, freeze] };
    expect(make(frozen).plan.moves).toEqual([]);
    expect(make(frozen).document.blockedBy).toContainEqual({ rule: "FREEZE", reason: "launch: big day", at: NOON, until: NOON + HOUR_MS });
    const roomy = { ...frozen, instances: [A, B, aRow("c")] };
    expect(make(roomy, { kind: "drain", instance: B }).plan.moves.map(({ reason }) => reason)).toEqual(["FORCED", "FORCED"]);
    const weekly = { ...freeze, schedule: "* * * * *", at: millis(0) };
    expect(voluntary({ ...SKEWED, freezes: [weekly] })).toEqual([]);
    expect(voluntary({ ...SKEWED, freezes: [{ ...weekly, schedule: "nonsense" }] }).length).toBeGreaterThan(0);
  });

  it("count the moves of the last hour, and leave units that were moved today", () => {
    const at = millis(NOON - HOUR_MS / 2);
    const moves = SKEWED.units.slice(0, 18).map(({ unit }) => ({ unit: unit.id, from: B.id, to: A.id, reason: "SHED" as const, at }));
    expect(make({ ...SKEWED, moves }).document.blockedBy).toContainEqual(expect.objectContaining({ rule: "WORKSPACES", used: 18 }));
    expect(
      make({ ...SKEWED, moves: moves.map((move) => ({ ...move, at: millis(NOON - 2 * HOUR_MS) })) }).plan.moves.length,
    ).toBeGreaterThan(0);
    const cooling = make({ ...SKEWED, units: SKEWED.units.map((unit) => ({ ...unit, movedAt: at })) });
    expect(cooling.plan.moves).toEqual([]);
    expect(cooling.document.left.shown[0]?.rule).toBe("COOL_DOWN");
  });

  it("relieve an overload once it has lasted", () => {
    const known = { planning: { ...ZERO_LOAD, applications: 50 }, recent: { ...ZERO_LOAD, applications: 50, milliCpu: 90 }, at: NOON };
    const units = [...unitRows("a", 10, 50, { known }), ...unitRows("b", 2, 50)];
    const hot = (sinceMs: number) =>
      aFacts([A, B], units, { state: { aboveSince: {}, overloadedSince: { [A.id]: millis(NOON - sinceMs) } } });
    expect(make(hot(300_000)).plan.moves[0]).toMatchObject({ reason: "HOT", from: A.id, to: B.id });
    expect(make(hot(60_000)).plan.moves).toEqual([]);
  });

  it("suppose that an instance is drained, gone, or one more is there", () => {
    expect(make(SKEWED, { kind: "drain", instance: B }).plan.moves.every(({ reason }) => reason === "FORCED")).toBe(true);
    const gone = make(aFacts([A, B], unitRows("b", 3, 50)), { kind: "remove", instance: B });
    expect(gone.plan.moves.map(({ to }) => to)).toEqual([A.id, A.id, A.id]);
    expect(gone.document.names.units).toMatchObject({ "u-b-00": "b-00" });
    const more = make(SKEWED, { kind: "add", instance: A });
    expect(more.document.names.instances["(one more)"]).toBe("one more of standard");
    expect(more.plan.moves.some(({ to }) => to === "(one more)")).toBe(true);
  });

  it("say in sentences what moves, why, what it costs and gains, and what takes a live move", () => {
    const units = SKEWED.units.map((row, index) => (index === 0 ? row : { ...row, isDeployed: true }));
    const lines = textOf({ ...SKEWED, units });
    expect(lines.slice(0, 7)).toEqual([
      "plan p-1: evening out in class eu/shared/public, asked for by otto at 2023-11-14T22:13:20Z",
      expect.stringMatching(/^ {2}`argosy apply p-1` carries it out until 2023-11-14T23:13:20Z/),
      "  metrics are trusted",
      "  mean use 50 % in applications; too full above 60 %, sheds to 57.3 %",
      expect.stringMatching(/^ {2}before: fullest a at 90 % \(1.8 × the mean\), 1 too full; after: fullest a at \d+ % /),
      expect.stringMatching(/^ {2}(?:1 move|(?:[02-9]|\d{2,}) moves) \(\d+ SHED\) of \d+ % of the load and \d+ of 20 workspaces$/),
      expect.stringMatching(/^ {2}needed at least: \d+ moves of \d+ % of the load; [\d.]+ % to shed down to 57\.3 %$/),
    ]);
    expect(lines.join("\n")).toMatch(
      / {2}a-\d\d: a → b, SHED, takes a live move\n {4}a was at 90 %, above 60 % for 780 min; moves 0.05 applications/,
    );
  });
});

describe("bad input moves no unit that need not move, and is reported", () => {
  const instanceLoads = (change: (total: typeof ZERO_LOAD, index: number) => typeof ZERO_LOAD) =>
    SKEWED.instanceLoads.map((load, index) => ({ ...load, total: change(load.total, index) }));
  const reference = { total: loadVector(() => 1000) };
  const state = { ...SKEWED.state, reference };
  const cases: readonly (readonly [string, PlanningFacts, string])[] = [
    ["all zero", { ...SKEWED, state, instanceLoads: instanceLoads(() => ZERO_LOAD) }, "JUMP"],
    ["ten times as much", { ...SKEWED, state, instanceLoads: instanceLoads((total) => loadVector((d) => total[d] * 10)) }, "JUMP"],
    ["half missing", { ...SKEWED, instanceLoads: SKEWED.instanceLoads.slice(1) }, "PARTIAL"],
    ["all missing", { ...SKEWED, instanceLoads: [] }, "NONE"],
    ["old", { ...SKEWED, instanceLoads: SKEWED.instances.map(({ id }) => aReport(id, millis(NOON - HOUR_MS))) }, "STALE"],
    ["of the future", { ...SKEWED, instanceLoads: SKEWED.instances.map(({ id }) => aReport(id, millis(NOON + HOUR_MS))) }, "STALE"],
    [
      "negative",
      { ...SKEWED, instanceLoads: instanceLoads((total, index) => (index === 0 ? { ...total, milliCpu: -1 } : total)) },
      "IMPLAUSIBLE",
    ],
    ["not a number", { ...SKEWED, instanceLoads: instanceLoads((total) => ({ ...total, milliCpu: Number.NaN })) }, "IMPLAUSIBLE"],
  ];
  it.each(cases)("metrics that are %s", (_what, facts, rule) => {
    expect(voluntary(SKEWED).length).toBeGreaterThan(0);
    expect(voluntary(facts)).toEqual([]);
    const { blockedBy } = make(facts).document;
    expect(blockedBy).toContainEqual(expect.objectContaining({ rule: "METRICS", verdict: expect.objectContaining({ rule }) }));
    expect(blockedBy.every(reEvaluatesBlockedBy)).toBe(true);
    expect(textOf(facts)).toContainEqual(expect.stringContaining("metrics are not trusted, so nothing moves that need not"));
  });

  it.each([
    ["a class without instances", aFacts([], [aUnitRow("x", undefined, 10), aUnitRow("y", "gone", 10)])],
    ["no capacity", aFacts([aRow("a", { capacity: ZERO_LOAD }), aRow("b", { capacity: ZERO_LOAD })], unitRows("a", 3, 50))],
    ["a unit that fits nowhere", aFacts([A, B], [aUnitRow("x", "gone", 5000)])],
    ["a unit whose load cannot be", aFacts([A, B], [aUnitRow("x", "gone", { ...ZERO_LOAD, milliCpu: Number.NaN, applications: -5 })])],
    ["nobody at all", aFacts([], [])],
  ])("%s", (_what, facts) => {
    const { plan, document } = make(facts);
    expect(plan.moves.filter(({ reason }) => reason !== "FORCED")).toEqual([]);
    expect([...plan.records, ...document.unplaceable].every(reEvaluates)).toBe(true);
    expect(textOf(facts).length).toBeGreaterThan(3);
  });

  it.each([
    ["an instance that is gone", { kind: "instance", instance: "i-gone" as InstanceId }],
    ["a pool without instances", { kind: "pool", pool: "nothing" }],
  ] as const)("a pin to %s", (_what, where) => {
    const facts = aFacts([A, B], [aUnitRow("x", "a", 10, { directive: { pin: { ...said, ...where }, hold: undefined } })]);
    const { plan, document } = make(facts);
    expect(plan.moves).toEqual([]);
    expect(document.unplaceable).toMatchObject([{ units: ["u-x"], cause: { rule: "MAY_NOT_STAY" }, answer: { rule: "NOTHING_FITS" } }]);
    expect(textOf(facts).join("\n")).toContain("x: it may not stay: the workspace is pinned to");
  });
});
