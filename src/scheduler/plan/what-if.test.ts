import { describe, expect, it } from "vitest";
import type { InstanceId } from "../../domain/ids.ts";
import type { Supposition, WhatIf } from "../../domain/what-if.ts";
import { buildRingInTurns } from "../hash-ring.ts";
import { aFacts, aRow, aUnitRow, unitRows } from "../testing/facts.ts";
import { NOON } from "../testing/snapshots.ts";
import type { PlanningFacts } from "./assemble.ts";
import { whatIf } from "./what-if.ts";

const FOUR = [aRow("a"), aRow("b"), aRow("c"), aRow("d")];
const UNITS = [...unitRows("a", 10, 40), ...unitRows("b", 10, 40), ...unitRows("c", 10, 40), ...unitRows("d", 5, 40)];
const FACTS = aFacts(FOUR, UNITS);
const FREEZE = { name: "f", schedule: undefined, durationMs: 3_600_000, reason: "r", at: NOON, actor: "otto" };
const ask = (suppositions: readonly Supposition[], facts: PlanningFacts = FACTS) =>
  whatIf(facts, suppositions, { at: NOON, names: new Set(), ringOf: buildRingInTurns });
const supposed = (suppositions: readonly Supposition[], facts?: PlanningFacts): WhatIf => {
  const found = ask(suppositions, facts);
  if (found.kind === "answer") return found.answer;
  throw new Error(found.message);
};
const fewer = (by: number): Supposition => ({ kind: "instances", pool: "standard", by: -by });
const named = (result: WhatIf, name: string) => result.instances.find((one) => one.name === name);
describe("fewer instances", () => {
  it("are the emptiest, and the others take what those held", () => {
    const result = supposed([fewer(1)]);
    expect(named(result, "d")).toMatchObject({ before: { share: 200_000, units: 5 }, after: undefined });
    const others = result.instances.filter(({ name }) => name !== "d");
    expect(others.map(({ after }) => after?.units ?? 0).reduce((sum, count) => sum + count)).toBe(35);
    expect(Math.max(...others.map(({ after }) => after?.share ?? 0))).toBeLessThanOrEqual(600_000);
    expect(result).toMatchObject({ moves: 5, workspaces: { moved: 5, of: 35 }, unplaceable: [], tooFull: [] });
    expect(result.text.join("\n")).toContain("if pool standard had 1 instance fewer, class");
    expect(result.text).toContain("  d: 20 % with 5 units → gone");
  });

  it("leave units that nothing takes where the rest is too small, and say which", () => {
    const result = supposed([fewer(3)]);
    expect(result.unplaceable.length).toBeGreaterThan(0);
    expect(result.text).toContain("no instance can take");
  });

  it("can be no more than there are", () => {
    expect(ask([fewer(5)])).toMatchObject({
      kind: "refused",
      index: 0,
      remedy: "Suppose at most 4 fewer",
    });
    expect(ask([fewer(1), { ...fewer(1), pool: "small" } as Supposition])).toMatchObject({
      kind: "refused",
      index: 1,
      remedy: "Name one of standard",
    });
  });
});

describe("more instances", () => {
  it("take their share from all others at once, whatever the budgets of a day", () => {
    const result = supposed([{ kind: "instances", pool: "standard", by: 2 }], {
      ...aFacts(FOUR.slice(0, 2), [...unitRows("a", 20, 40), ...unitRows("b", 20, 40)]),
      rebalancing: { class: "eu/shared/public", mode: "auto", movesPerHour: 1, movesPerDay: 1 },
    });
    const after = result.instances.map(({ after: at }) => at?.share ?? 0);
    expect(result.instances.filter(({ before }) => before === undefined).map(({ name }) => name)).toEqual(["standard-1", "standard-2"]);
    expect(Math.max(...after)).toBeLessThanOrEqual(560_000);
    expect(Math.min(...after)).toBeGreaterThanOrEqual(240_000);
    expect(result.moves).toBeGreaterThan(10);
  });
});

describe("another load", () => {
  it("of one workspace is shed, although its instance has been too full for no time at all", () => {
    const result = supposed([{ kind: "load", workspace: UNITS[0]?.namespace, times: 10 }]);
    expect(named(result, "a")).toMatchObject({ before: { share: 400_000 } });
    expect(result.moves).toBeGreaterThan(0);
    expect(Math.max(...result.instances.map(({ after }) => after?.share ?? 0))).toBeLessThan(700_000);
  });

  it("of all is what every instance takes", () => {
    const even = aFacts(FOUR.slice(0, 2), [...unitRows("a", 10, 40), ...unitRows("b", 10, 40)]);
    const result = supposed([{ kind: "load", workspace: undefined, times: 2 }], even);
    expect(named(result, "a")).toMatchObject({ before: { share: 400_000 }, after: { share: 800_000 } });
    expect(result.moves).toBe(0);
    expect(supposed([{ kind: "load", workspace: undefined, times: 0 }]).instances.map(({ after }) => after?.share)).toEqual([0, 0, 0, 0]);
  });

  it("of a workspace that is not there is refused", () => {
    expect(ask([{ kind: "load", workspace: "nobody", times: 2 }])).toMatchObject({
      kind: "refused",
      message: "class eu/shared/public has no workspace nobody",
    });
  });
});

describe("another release", () => {
  it("says what it would serve, and what may not stay where that is below the floor", () => {
    const facts = aFacts([aRow("a"), aRow("b", { pool: "canary" })], [...unitRows("a", 10, 40), ...unitRows("b", 5, 40)]);
    const result = supposed([{ kind: "release", pool: "canary", version: "3.6.0" }], facts);
    expect(result.releases).toEqual([
      { version: "3.5.7", unitsBefore: 15, unitsAfter: 10, loadAfter: 666_667 },
      { version: "3.6.0", unitsBefore: 0, unitsAfter: 5, loadAfter: 333_333 },
    ]);
    expect(result.text).toContain("  3.6.0: 0 → 5 units, 33.3 % of the load");
  });
});

it("counts what is on its way as there, and neither cool-downs nor freezes hold anything up", () => {
  const moving = aUnitRow("m", "d", 40, { movingTo: "i-a" as InstanceId, movedAt: NOON });
  const facts = { ...aFacts(FOUR, [...UNITS, moving]), freezes: [FREEZE] };
  const result = supposed([fewer(1)], facts);
  expect(result.moves).toBe(5);
  expect(result.instances.map(({ after }) => after?.units ?? 0).reduce((sum, count) => sum + count)).toBe(36);
});

it("says the same of the same rows, and changes none", () => {
  const before = JSON.stringify(FACTS);
  const all: readonly Supposition[] = [fewer(1), { kind: "load", workspace: undefined, times: 1.3 }];
  expect(supposed(all)).toEqual(supposed(all, { ...FACTS, units: FACTS.units.toReversed(), instances: FACTS.instances.toReversed() }));
  expect(JSON.stringify(FACTS)).toBe(before);
});
