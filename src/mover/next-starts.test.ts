import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { millis } from "../domain/clock.ts";
import type { InstanceId, MoveId, UnitId } from "../domain/ids.ts";
import { MOVE_KINDS, type MoveKind, type MovePhase } from "../domain/move.ts";
import { PHASES } from "../domain/move-phases.ts";
import type { MoveReason } from "../domain/plan.ts";
import { budgetsOf, DEFAULT_BUDGETS, DEFAULT_SETTINGS, mostAtOnce, nextStarts } from "./next-starts.ts";

let count = 0;
const next = (): MoveId => {
  count += 1;
  return `move-${String(count).padStart(4, "0")}` as MoveId;
};
const aMove = (
  from: string,
  to: string,
  over: {
    readonly phase?: MovePhase;
    readonly kind?: MoveKind;
    readonly reason?: MoveReason;
    readonly at?: number;
    readonly unit?: string;
  } = {},
) => ({
  id: next(),
  unitId: (over.unit ?? `unit-${count}`) as UnitId,
  ...{
    from: from as InstanceId,
    to: to as InstanceId,
    phase: over.phase ?? ("WAITING" as const),
    kind: over.kind ?? ("voluntary" as const),
    reason: over.reason ?? ("SHED" as const),
  },
  createdAt: millis(over.at ?? 0),
});

it("begins two voluntary moves per source and target, and those behind them that are of other instances", () => {
  const waiting = [aMove("a", "b"), aMove("a", "c"), aMove("a", "d"), aMove("e", "b"), aMove("f", "b"), aMove("e", "f")];
  expect(nextStarts(waiting).map(({ from, to }) => from + to)).toEqual(["ab", "ac", "eb", "ef"]);
});

it("counts what is under way, cleaning up too, and not what has ended", () => {
  const busy = [aMove("a", "b", { phase: "REVOKE" }), aMove("a", "c", { phase: "CLEANUP" }), aMove("a", "d", { phase: "DONE" })];
  expect(nextStarts([...busy, aMove("a", "e")])).toEqual([]);
  expect(nextStarts([...busy.slice(1), aMove("a", "e")])).toHaveLength(1);
});

it("lets the urgent go first, then the oldest", () => {
  const waiting = [aMove("a", "b", { at: 1 }), aMove("c", "d", { at: 0 }), aMove("e", "f", { kind: "evacuation", at: 9 })];
  expect(nextStarts(waiting).map(({ from }) => from)).toEqual(["e", "c", "a"]);
});

it("takes as many of a drain at once as settings say, and of the fleet beside them", () => {
  const drains = Array.from({ length: 12 }, (_, index) => aMove("a", `t${index}`, { kind: "drain" }));
  expect(nextStarts(drains)).toHaveLength(8);
  const budgets = budgetsOf({ ...DEFAULT_SETTINGS, drain: 3, fleet: 2 });
  expect(nextStarts(drains, { budgets })).toHaveLength(2);
  const evacuated = drains.map((move) => ({ ...move, kind: "evacuation" as const }));
  expect(nextStarts(evacuated, { budgets })).toHaveLength(12);
  expect(mostAtOnce(budgets)).toBe(32);
});

describe("moves that relieve an overloaded instance", () => {
  const hot = (to: string, over: Parameters<typeof aMove>[2] = {}) => aMove("a", to, { reason: "HOT", ...over });
  const six = () => Array.from({ length: 6 }, (_, index) => hot(`t${index}`));
  const targets = (moves: readonly { readonly to: string }[]) => moves.map(({ to }) => to);

  it("begin four at once, and the next one when one of them has ended", () => {
    const waiting = six();
    expect(targets(nextStarts(waiting))).toEqual(["t0", "t1", "t2", "t3"]);
    const underWay = waiting.map((move, index) => (index < 4 ? { ...move, phase: "VERIFY" as const } : move));
    expect(nextStarts(underWay)).toEqual([]);
    expect(targets(nextStarts(underWay.map((move, index) => (index === 1 ? { ...move, phase: "DONE" as const } : move))))).toEqual(["t4"]);
  });

  it("are four to one target too, and as many as settings say", () => {
    expect(nextStarts(Array.from({ length: 6 }, () => hot("b")))).toHaveLength(4);
    expect(nextStarts(six(), { budgets: budgetsOf({ ...DEFAULT_SETTINGS, perOverloadedInstance: 1 }) })).toHaveLength(1);
  });

  it("come before drains and what could wait, and after evacuations", () => {
    const moves = [
      aMove("c", "d"),
      aMove("e", "f", { kind: "drain" }),
      hot("b", { at: 9 }),
      aMove("g", "h", { kind: "evacuation", at: 9 }),
    ];
    expect(nextStarts(moves).map(({ from }) => from)).toEqual(["g", "a", "e", "c"]);
  });

  it("leave the budgets of all others as they are", () => {
    // What could wait counts all that is under way, and begins neither there nor beyond two elsewhere.
    const elsewhere = Array.from({ length: 4 }, (_, index) => aMove("b", `s${index}`));
    expect(targets(nextStarts([...six(), aMove("a", "z"), ...elsewhere]))).toEqual(["t0", "t1", "t2", "t3", "s0", "s1"]);
    const budgets = budgetsOf({ ...DEFAULT_SETTINGS, fleet: 3 });
    expect(nextStarts(six(), { budgets })).toHaveLength(3);
    const moves = six();
    const clusters = new Map(moves.map(({ unitId }, index) => [unitId, index === 5 ? ["https://y"] : ["https://x"]]));
    expect(targets(nextStarts(moves, { clusters }))).toEqual(["t0", "t5"]);
    // A person may move something off an overloaded instance for another reason.
    expect(nextStarts(six().map((move) => ({ ...move, reason: "FORCED" as const })))).toHaveLength(2);
  });
});

it("begins one at a time of units that deploy to the same managed cluster, unless they have to be saved", () => {
  const clusters = new Map(["u1", "u2", "u3"].map((unit) => [unit as UnitId, unit === "u3" ? ["https://y"] : ["https://x", "https://z"]]));
  const moves = [aMove("a", "b", { unit: "u1" }), aMove("c", "d", { unit: "u2" }), aMove("e", "f", { unit: "u3" }), aMove("g", "h")];
  expect(nextStarts(moves, { clusters }).map(({ from }) => from)).toEqual(["a", "e", "g"]);
  const [busy, ...rest] = moves.map((move, index) => (index === 0 ? { ...move, phase: "ACTIVATE" as const } : move));
  expect(nextStarts([busy!, ...rest], { clusters }).map(({ from }) => from)).toEqual(["e", "g"]);
  const saved = moves.map((move) => ({ ...move, kind: "evacuation" as const }));
  expect(nextStarts(saved, { clusters })).toHaveLength(4);
});

it("never begins more than may be under way, however many wait", () => {
  const name = fc.constantFrom("a", "b", "c", "d", "e", "f");
  const arbitrary = fc.array(
    fc.record({
      from: name,
      to: name,
      kind: fc.constantFrom(...MOVE_KINDS),
      reason: fc.constantFrom("SHED" as const, "HOT" as const),
      phase: fc.constantFrom("WAITING" as const, "PREPARE" as const),
    }),
    { maxLength: 80 },
  );
  fc.assert(
    fc.property(arbitrary, (requests) => {
      const live = requests.map(({ from, to, ...over }) => aMove(from, to, over));
      const before = live.filter(({ phase }) => PHASES[phase].isUnderWay);
      const begun = nextStarts(live);
      for (const move of begun) {
        const budget = DEFAULT_BUDGETS[move.kind === "voluntary" && move.reason === "HOT" ? "relief" : move.kind];
        const others = [...before, ...begun.slice(0, begun.indexOf(move))];
        expect(others.length).toBeLessThan(budget.fleet);
        for (const id of [move.from, move.to])
          expect(others.filter(({ from }) => from === id).length + others.filter(({ to }) => to === id).length).toBeLessThan(
            budget.instance,
          );
      }
    }),
    { numRuns: 100 },
  );
});
