import { describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import type { UnitId } from "../../domain/ids.ts";
import { loadVector } from "../../domain/load.ts";
import { nextLoad, type UnitLoad, wholeLoad } from "./planning-load.ts";
import { type FollowedLoads, nextFollowed, withUnrecorded } from "./unrecorded-loads.ts";

const UNIT = "unit" as UnitId;
const PERIOD_MS = 120_000;
const loadOf = (milliCpu: number, applications = 1000) =>
  loadVector((dimension) => (dimension === "milliCpu" ? milliCpu : dimension === "applications" ? applications : 1));
const known = (planning: number, recent: number, at = 0): UnitLoad => ({
  planning: loadOf(planning),
  recent: loadOf(recent),
  at: millis(at),
});
const sampled = (load: UnitLoad, epoch = 1) => [{ unitId: UNIT, epoch, load, whole: wholeLoad(load.planning) }];
const isRecorded = (before: UnitLoad | undefined, load: UnitLoad) =>
  nextFollowed(sampled(load), [{ unitId: UNIT, known: before }]).changed.length === 1;

describe("a unit's load", () => {
  it.each([
    ["that was never recorded", undefined, known(6, 6), true],
    ["that is the same", known(6, 6), known(6, 6, 1), false],
    ["whose mean has moved by half a thousandth of a core", known(6, 6), known(6.5, 6, 1), false],
    ["whose mean has moved by more", known(6, 6), known(6.51, 6, 1), true],
    ["whose mean has moved by a hundredth", known(600, 600), known(606, 600, 1), false],
    ["that now takes some thousandths more", known(6, 6), known(6, 11, 1), false],
    ["that now takes much more", known(6, 6), known(6, 40, 1), true],
    ["that has another application", known(6, 6), { ...known(6, 6, 1), planning: loadOf(6, 2000) }, true],
  ])("%s is recorded only where that says something new", (_what, before, load, expected) => {
    expect(isRecorded(before, load)).toBe(expected);
  });

  it("follows a lasting change as a mean of every sample does, although few of them are recorded", () => {
    let [exact, recorded] = [known(6, 6), known(6, 6)];
    let followed: FollowedLoads = new Map();
    let writes = 0;
    for (let sample = 1; sample <= 24 * 30; sample += 1) {
      const taken = { at: millis(sample * PERIOD_MS), load: { milliCpu: sample % 2 === 0 ? 11 : 13 } };
      exact = nextLoad(exact, taken);
      const [unit] = withUnrecorded([{ unitId: UNIT, epoch: 1, known: recorded }], followed);
      const { changed, followed: next } = nextFollowed(sampled(nextLoad(unit?.known ?? recorded, taken)), [
        { unitId: UNIT, known: recorded },
      ]);
      followed = next;
      if (changed[0] !== undefined) [recorded, writes] = [changed[0].load, writes + 1];
      // As it is read: it was measured when its instance was, whether it was recorded or not.
      recorded = { ...recorded, at: taken.at };
    }
    expect(exact.planning.milliCpu).toBeGreaterThan(9.5);
    expect(Math.abs(recorded.planning.milliCpu - exact.planning.milliCpu)).toBeLessThanOrEqual(0.5);
    expect(writes).toBeLessThan(20);
  });

  it("is what somebody else has recorded since, and what a new owner begins with", () => {
    const followed: FollowedLoads = new Map([[UNIT, { epoch: 1, recorded: known(6, 6), load: known(6.2, 7, 1) }]]);
    const seen = (load: UnitLoad | undefined, epoch = 1) => withUnrecorded([{ unitId: UNIT, epoch, known: load }], followed)[0]?.known;
    expect(seen(known(6, 6))).toEqual(known(6.2, 7, 1));
    expect(seen(known(6, 9))).toEqual(known(6, 9));
    expect(seen(known(6, 6), 2)).toEqual(known(6, 6));
    expect(seen(undefined)).toBeUndefined();
  });
});
