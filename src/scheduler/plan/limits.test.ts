import { describe, expect, it } from "vitest";
import { asLoadVector } from "../../domain/load.ts";
import { aCandidate, aSnapshot, aUnit, NOON } from "../testing/snapshots.ts";
import { openBook } from "./book.ts";
import { DEFAULT_PLANNER_POLICY } from "./planner-policy.ts";

/** Limits of a class of two instances, of which the second is empty. */
const limitsAt = (load: number, more: Parameters<typeof aCandidate>[1] = {}) =>
  openBook(aSnapshot([aCandidate("a"), aCandidate("b", more)], [aUnit("u", "a", load)], { at: NOON }), DEFAULT_PLANNER_POLICY).limits;

describe("the bounds of a class", () => {
  it.each([
    // mean, tight, bound, what is shed to
    [1_000, 500_000, 600_000, 600_000, 572_727],
    [1_100, 550_000, 600_000, 605_000, 577_500],
    [1_200, 600_000, 630_000, 660_000, 630_000],
    [1_500, 750_000, 787_500, 825_000, 787_500],
    [1_660, 830_000, 871_500, 900_000, 859_090],
    [1_760, 880_000, 900_000, 900_000, 880_000],
    [1_900, 950_000, 900_000, 900_000, 900_000],
    [0, 0, 600_000, 600_000, 572_727],
  ])("keep their distance with a load of %i on two instances", (...[load, mean, tight, bound, shedTo]) => {
    expect(limitsAt(load)).toEqual({ mean, scarce: 0, tight, bound, shedTo, hard: 900_000, meanUnit: [load, 0, 0, 0, 0] });
  });

  it("have the mean unit's load, zero without units", () => {
    const held = [aUnit("u", "a", 100), aUnit("v", undefined, 50)];
    expect(openBook(aSnapshot([aCandidate("a")], held), DEFAULT_PLANNER_POLICY).limits.meanUnit).toEqual([75, 0, 0, 0, 0]);
    expect(openBook(aSnapshot([aCandidate("a")], []), DEFAULT_PLANNER_POLICY).limits.meanUnit).toEqual([0, 0, 0, 0, 0]);
  });

  it("count only the capacity of instances that take units, but all load", () => {
    expect(limitsAt(300, { state: "DRAINING" }).mean).toBe(300_000);
    expect(limitsAt(300, { state: "CORDONED" }).mean).toBe(300_000);
    const draining = aSnapshot([aCandidate("a", { state: "DRAINING" }), aCandidate("b")], [aUnit("u", "a", 300), aUnit("v", "b", 300)]);
    expect(openBook(draining, DEFAULT_PLANNER_POLICY).limits.mean).toBe(600_000);
  });

  it("leave out waiting units that fit nowhere, and count those that fit", () => {
    const waiting = (load: number) =>
      openBook(aSnapshot([aCandidate("a")], [aUnit("u", undefined, load), aUnit("v", "a", 100)]), DEFAULT_PLANNER_POLICY).limits.mean;
    expect(waiting(901)).toBe(100_000);
    expect(waiting(900)).toBe(1_000_000);
  });

  it("depend on the scarcest dimension", () => {
    const unit = aUnit("u", "a", 100, {
      load: asLoadVector({ applications: 100, clusterEntries: 0, cachedResources: 300, milliCpu: 200, gitPerMinute: 0 }),
    });
    expect(openBook(aSnapshot([aCandidate("a")], [unit]), DEFAULT_PLANNER_POLICY).limits).toMatchObject({ mean: 300_000, scarce: 2 });
  });
});
