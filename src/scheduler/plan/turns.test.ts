import { describe, expect, it } from "vitest";
import { type Millis, millis } from "../../domain/clock.ts";
import type { PlanId } from "../../domain/ids.ts";
import { complete, type Resumable } from "../../domain/resumable.ts";
import { buildRingInTurns } from "../hash-ring.ts";
import { splitCapacityInTurns } from "../split/plan-split.ts";
import { aFacts, aRow, aUnitRow } from "../testing/facts.ts";
import { aCandidate, aSnapshot, aUnit, HOUR_MS, NOON } from "../testing/snapshots.ts";
import { assembleSnapshotInTurns, type PlanningFacts } from "./assemble.ts";
import { makePlan, makePlanInTurns } from "./make-plan.ts";
import { nextClassStateInTurns } from "./next-class-state.ts";
import { planMovesInTurns } from "./plan-moves.ts";
import { snapshotHashInTurns } from "./snapshot.ts";
import { storedPlanInTurns, storedPlanOf } from "./stored-plan.ts";
import { openCarryingOutInTurns } from "./validate-step.ts";
import { whatIfInTurns } from "./what-if.ts";

const INSTANCES = 40;
const EACH = 100;
const names = Array.from({ length: INSTANCES }, (_, index) => `i${String(index).padStart(2, "0")}`);

/** A fleet of a few thousand units in which much has to be done: two instances are too full, one is new, one drains, and some units wait. */
function busyFacts(): PlanningFacts {
  const instances = names.map((name, index) =>
    aRow(name, {
      state: index === 3 ? "DRAINING" : "ACTIVE",
      ...(index === 4 ? { stateSince: millis(NOON - HOUR_MS) } : {}),
    }),
  );
  const units = names.flatMap((name, index) =>
    index === 4
      ? []
      : Array.from({ length: EACH }, (_, unit) => aUnitRow(`${name}-${String(unit).padStart(3, "0")}`, name, index < 2 ? 9 : 7)),
  );
  const waiting = Array.from({ length: 50 }, (_, unit) => aUnitRow(`waits-${unit}`, undefined, 3));
  const aboveSince: Record<string, Millis> = Object.fromEntries(names.map((name) => [`i-${name}`, millis(NOON - 13 * HOUR_MS)]));
  return aFacts(instances, [...units, ...waiting], { state: { aboveSince, overloadedSince: {} } });
}

/** The same objects, counting how often the property is read; and the most reads between two pauses of what is done with them. */
function counting<Row extends object>(rows: readonly Row[], property: keyof Row) {
  const seen = { reads: 0, longest: 0 };
  const counted = rows.map((row) => {
    const value = row[property];
    return Object.defineProperty({ ...row }, property, {
      enumerable: true,
      get: () => {
        seen.reads += 1;
        seen.longest = Math.max(seen.longest, seen.reads);
        return value;
      },
    });
  });
  const drive = (work: Resumable<unknown>): number => {
    seen.longest = 0;
    seen.reads = 0;
    for (; work.next().done !== true; seen.reads = 0);
    return seen.longest;
  };
  return { counted, drive };
}

/** A pause is at most 500 units away, and a step reads what it asks about of each a few times. */
const MOST_READS = 3_000;

describe("planning", () => {
  const facts = busyFacts();
  const { counted, drive } = counting(facts.units, "unit");
  const seen = { ...facts, units: counted };
  const snapshot = complete(assembleSnapshotInTurns(facts, NOON));

  it.each<readonly [string, () => Resumable<unknown>]>([
    ["a snapshot", () => assembleSnapshotInTurns(seen, NOON)],
    ["what is remembered of a class", () => nextClassStateInTurns(seen, snapshot)],
    ["a plan", () => makePlanInTurns(seen, { kind: "rebalance" }, { at: NOON })],
    ["the validation of a plan's steps", () => openCarryingOutInTurns(seen, NOON)],
    [
      "a supposition",
      () =>
        whatIfInTurns(seen, [{ kind: "load", workspace: undefined, times: 1 }], { at: NOON, names: new Set(), ringOf: buildRingInTurns }),
    ],
    ["what workspaces are split by", () => splitCapacityInTurns(seen, NOON)],
  ])("pauses often enough on the way through the units: %s", (_name, work) => {
    const reads = drive(work());
    expect(reads).toBeGreaterThan(100);
    expect(reads).toBeLessThanOrEqual(MOST_READS);
  });

  it.each<readonly [string, (units: typeof snapshot) => Resumable<unknown>]>([
    ["moves", (given) => planMovesInTurns(given)],
    ["its hash", (given) => snapshotHashInTurns(given)],
  ])("pauses often enough on the way through a snapshot: %s", (_name, work) => {
    const units = counting(snapshot.units, "workspaceId");
    const reads = units.drive(work({ ...snapshot, units: units.counted }));
    expect(reads).toBeGreaterThan(100);
    expect(reads).toBeLessThanOrEqual(MOST_READS);
  });

  it("pauses before each unit that it looks for an instance for", () => {
    const held = Array.from({ length: 300 }, (_, index) => aUnit(`u${String(index).padStart(3, "0")}`, undefined, 1));
    const candidates = names.map((name) => aCandidate(name));
    let pauses = 0;
    for (const work = planMovesInTurns(aSnapshot(candidates, held)); work.next().done !== true; ) pauses += 1;
    expect(pauses).toBeGreaterThanOrEqual(held.length);
  });

  it("makes the same of it as without pauses", () => {
    const goal = { kind: "drain", instance: facts.instances[5] } as const;
    const made = makePlan(facts, goal, { at: NOON });
    expect(made.plan.moves.length).toBeGreaterThan(0);
    expect(complete(makePlanInTurns(facts, goal, { at: NOON }))).toEqual(made);
    const head = { id: "p" as PlanId, goal: "drain", subject: "", actor: "otto", at: NOON } as const;
    expect(complete(storedPlanInTurns(made, head))).toEqual(storedPlanOf(made, head));
  });
});
