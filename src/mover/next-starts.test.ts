import fc from "fast-check";
import { expect, it } from "vitest";
import { millis } from "../domain/clock.ts";
import type { InstanceId, MoveId, UnitId } from "../domain/ids.ts";
import { MOVE_KINDS, type MoveKind, type MovePhase } from "../domain/move.ts";
import { PHASES } from "../domain/move-phases.ts";
import { budgetsOf, DEFAULT_BUDGETS, DEFAULT_SETTINGS, mostAtOnce, nextStarts } from "./next-starts.ts";

let count = 0;
const next = (): MoveId => {
  count += 1;
  return `move-${String(count).padStart(4, "0")}` as MoveId;
};
const aMove = (
  from: string,
  to: string,
  over: { readonly phase?: MovePhase; readonly kind?: MoveKind; readonly at?: number; readonly unit?: string } = {},
) => ({
  id: next(),
  unitId: (over.unit ?? `unit-${count}`) as UnitId,
  ...{
    from: from as InstanceId,
    to: to as InstanceId,
    phase: over.phase ?? ("WAITING" as const),
    kind: over.kind ?? ("voluntary" as const),
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
      phase: fc.constantFrom("WAITING" as const, "PREPARE" as const),
    }),
    { maxLength: 80 },
  );
  fc.assert(
    fc.property(arbitrary, (wishes) => {
      const live = wishes.map(({ from, to, ...over }) => aMove(from, to, over));
      const before = live.filter(({ phase }) => PHASES[phase].isUnderWay);
      const begun = nextStarts(live);
      for (const move of begun) {
        const others = [...before, ...begun.slice(0, begun.indexOf(move))];
        expect(others.length).toBeLessThan(DEFAULT_BUDGETS[move.kind].fleet);
        for (const id of [move.from, move.to])
          expect(others.filter(({ from }) => from === id).length + others.filter(({ to }) => to === id).length).toBeLessThan(
            DEFAULT_BUDGETS[move.kind].instance,
          );
      }
    }),
    { numRuns: 100 },
  );
});
