import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CalibrationFacts } from "../../domain/calibration.ts";
import { millis } from "../../domain/clock.ts";
import type { HealthSample, Signals } from "../../domain/health.ts";
import { asLoadVector, loadVector } from "../../domain/load.ts";
import { AT } from "../../store/testing/builders.ts";
import { calibrate, LEAST_OBSERVATIONS } from "./calibrate.ts";
import { fitLine } from "./fit-line.ts";

const DECLARED = loadVector(
  (dimension) =>
    ({ applications: 1_000_000, clusterEntries: 60, cachedResources: 250_000, milliCpu: 2_000, gitPerMinute: 600_000 })[dimension],
);
/** Samples every 15 s under a growing load, as this instance would give them. */
const samplesOf = (count: number, of: (index: number) => Signals): readonly HealthSample[] =>
  Array.from({ length: count }, (_, index) => ({ at: millis(AT + index * 15_000), signals: of(index) }));
const growing = (index: number) => 100 + 10 * index;
const facts = (over: Partial<CalibrationFacts> = {}): CalibrationFacts => ({
  samples: samplesOf(40, (index) => ({
    applications: growing(index),
    utilisation: 0.05 + growing(index) / 1_000,
    controllerMemory: 0.1 + growing(index) / 2_000,
  })),
  load: asLoadVector({ applications: 490_000, clusterEntries: 10, cachedResources: 5_000, milliCpu: 900, gitPerMinute: 200_000 }),
  capacity: DECLARED,
  isRaised: false,
  ...over,
});

describe("what an instance bears", () => {
  it("says nothing of others where it was given more than they have", () => {
    expect(calibrate(facts({ isRaised: true })).doubts).toEqual([expect.stringContaining("more resources than its pool declares")]);
  });

  it("is learnt from what its applications took, up to what is used up first", () => {
    const { binding, readings, fitted, doubts, applications } = calibrate(facts());
    expect(doubts).toEqual([]);
    expect({ binding, applications }).toEqual({ binding: "workers", applications: 490 });
    expect(readings.map(({ bound, bears, observations: count }) => [bound, bears, count])).toEqual([
      ["workers", 650, 40],
      ["memory", 1281, 40],
    ]);
    expect(readings[0]).toMatchObject({
      base: expect.closeTo(0.05),
      perApplication: expect.closeTo(0.001),
      fit: expect.closeTo(1),
      applications: [100, 490],
    });
    // Dimensions of the workers grow with the workers' bound, those of the memory with the other one.
    expect(fitted).toEqual({ applications: 650_000, clusterEntries: 26, cachedResources: 13_071, milliCpu: 1_193, gitPerMinute: 265_000 });
  });

  it("is taken in proportion if the load never changed, and keeps what was declared in dimensions without load", () => {
    const samples = samplesOf(30, () => ({ applications: 200, utilisation: 0.35, controllerMemory: 0.5 }));
    const { readings, fitted, doubts } = calibrate(facts({ samples, load: { ...facts().load, clusterEntries: 0 } }));
    expect(doubts).toEqual([]);
    expect(readings.map(({ bears, fit }) => [bears, fit])).toEqual([
      [400, undefined],
      [296, undefined],
    ]);
    expect(fitted).toMatchObject({ applications: 296_000, clusterEntries: DECLARED.clusterEntries });
  });

  it("is never zero: a dimension that is hardly used keeps one, and a bound that is reached without any application is a doubt", () => {
    const little = calibrate(facts({ load: { ...facts().load, clusterEntries: 1, gitPerMinute: 3 } }));
    expect(little.fitted).toMatchObject({ clusterEntries: 2, gitPerMinute: 1_000 });
    const samples = samplesOf(40, (index) => ({ applications: growing(index), controllerMemory: 0.8 + growing(index) / 10_000 }));
    const { fitted, doubts } = calibrate(facts({ samples }));
    expect(fitted?.applications).toBe(1_000);
    expect(doubts[0]).toContain("without any application 80 % of its memory would be in use, and 74 % is the most");
  });

  it.each<readonly [string, Partial<CalibrationFacts>, RegExp]>([
    ["there were no samples", { samples: [] }, /no sample shows both/],
    [
      "there were few samples",
      { samples: facts().samples.slice(-5) },
      new RegExp(`5 samples are too few: wait until there are ${LEAST_OBSERVATIONS}`),
    ],
    [
      "it had little to do",
      { samples: samplesOf(30, () => ({ applications: 10, utilisation: 0.01 })) },
      /seen at 1 % at most, of 70 %: load it to 23 %/,
    ],
    [
      "it had too much to do",
      { samples: samplesOf(30, () => ({ applications: 900, utilisation: 1.1 })) },
      /all busy: what was seen is beyond/,
    ],
    [
      "something else took it",
      {
        samples: samplesOf(40, (index) => ({
          applications: growing(index),
          utilisation: 0.3 + (index % 2) * 0.3 + growing(index) / 10_000,
        })),
      },
      /explain \d+ % of how workers varied/,
    ],
    [
      "it was overloaded",
      { samples: samplesOf(40, (index) => ({ applications: 300, utilisation: 0.5, queueWaitS: index < 30 ? 60 : 1 })) },
      /in 30 of 40 samples/,
    ],
    [
      "so many were too many for it",
      { samples: samplesOf(60, (index) => ({ applications: 35, utilisation: 0.25, queueWaitS: index < 57 ? 1 : 30 })) },
      /^35 applications were more than it can bear in 3 samples/,
    ],
  ])("is doubted where %s", (_what, over, doubt) => {
    expect(calibrate(facts(over)).doubts).toEqual(expect.arrayContaining([expect.stringMatching(doubt)]));
  });

  it("is not doubted for a burst that was over at once, nor if it bears fewer applications than were too many", () => {
    const busy = (waiting: number, utilisation: number) =>
      samplesOf(60, (index) => ({ applications: 35, utilisation, queueWaitS: index < waiting ? 30 : 1 }));
    expect(calibrate(facts({ samples: busy(2, 0.25) })).doubts).toEqual([]);
    expect(calibrate(facts({ samples: busy(20, 0.75) })).doubts).toEqual([]);
  });

  it("is not doubted for waits while its parts restarted", () => {
    const changed = samplesOf(60, (index) => ({
      ...{ applications: 35, utilisation: 0.25 },
      ...(index < 20 ? { queueWaitS: 30, isChanging: 1 } : { queueWaitS: 1 }),
    }));
    expect(calibrate(facts({ samples: changed })).doubts).toEqual([]);
  });

  it("is found from samples of an instance whose cost is known, however noisy they are", () => {
    const cost = fc.record({
      base: fc.double({ min: 0, max: 0.1, noNaN: true }),
      each: fc.double({ min: 0.0005, max: 0.0014, noNaN: true }),
    });
    const noise = fc.array(fc.double({ min: -0.02, max: 0.02, noNaN: true }), { minLength: 40, maxLength: 40 });
    fc.assert(
      fc.property(cost, noise, ({ base, each }, errors) => {
        const samples = samplesOf(40, (index) => ({
          applications: growing(index),
          utilisation: base + each * growing(index) + (errors[index] ?? 0),
        }));
        const bears = calibrate(facts({ samples })).readings[0]?.bears ?? 0;
        const right = (0.7 - base) / each;
        expect(bears).toBeGreaterThan(right * 0.8);
        expect(bears).toBeLessThan(right * 1.2);
      }),
    );
  });
});

describe("a line through points", () => {
  it("goes through the origin where it would otherwise make no sense, and does not exist without points", () => {
    expect(fitLine([])).toBeUndefined();
    expect(fitLine([{ x: 0, y: 1 }])).toBeUndefined();
    expect(
      fitLine([
        { x: 1, y: 4 },
        { x: 3, y: 2 },
      ]),
    ).toEqual({ base: 0, slope: 1.5, fit: undefined });
    expect(
      fitLine([
        { x: 1, y: 2 },
        { x: 3, y: 4 },
      ]),
    ).toEqual({ base: 1, slope: 1, fit: 1 });
  });
});
