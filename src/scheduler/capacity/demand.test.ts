import { describe, expect, it } from "vitest";
import type { DemandHistory } from "../../domain/capacity.ts";
import { millis } from "../../domain/clock.ts";
import { type LoadVector, loadVector, ZERO_LOAD } from "../../domain/load.ts";
import type { PeakWindow } from "../../domain/peaks.ts";
import { forecastPeak, nextDemand, usualLoads, withDemand } from "./demand.ts";

const HOUR_MS = 3_600_000;
/** A Monday, 00:00 UTC. */
const MONDAY = 1_767_571_200_000;
const hour = (count: number) => millis(MONDAY + count * HOUR_MS);
const cpu = (milliCpu: number): LoadVector => ({ ...ZERO_LOAD, milliCpu });
/** A wave between 100 at midnight and 300 at noon. */
const wave = (count: number): number => 200 - 100 * Math.cos((2 * Math.PI * (count % 24)) / 24);
const recorded = (from: number, to: number, of: (count: number) => number, known?: DemandHistory): DemandHistory | undefined => {
  let history = known;
  for (let count = from; count <= to; count += 1) history = nextDemand(history, cpu(of(count)), hour(count));
  return history;
};
const peak = (history: DemandHistory | undefined, now: number, at: number, hours: number) =>
  forecastPeak(history, cpu(now), { at: hour(at), untilMs: hours * HOUR_MS, present: cpu(now) }).milliCpu;

describe("what a class takes", () => {
  it("is kept as the most of each hour of the week, with the same hour a week earlier", () => {
    let history = nextDemand(undefined, cpu(5), hour(0));
    history = nextDemand(history, { ...cpu(3), applications: 7 }, millis(hour(0) + 1));
    expect(Object.values(history.hours)).toEqual([{ at: hour(0), load: { ...cpu(5), applications: 7 }, before: undefined }]);
    history = nextDemand(history, cpu(4), hour(168));
    expect(Object.values(history.hours)).toEqual([{ at: hour(168), load: cpu(4), before: { ...cpu(5), applications: 7 } }]);
    history = nextDemand(history, cpu(9), hour(3 * 168));
    expect(Object.values(history.hours)).toEqual([{ at: hour(3 * 168), load: cpu(9), before: undefined }]);
  });

  it("holds no more than a week", () => {
    expect(Object.keys(recorded(0, 1_000, wave)?.hours ?? {})).toHaveLength(168);
  });
});

describe("what a class is expected to take", () => {
  it("is what it takes now, where nothing is known", () => {
    expect(peak(undefined, 120, 0, 24)).toBe(120);
    expect(peak(recorded(0, 2, wave), 120, 3, 6)).toBe(120);
  });

  it("is what it was a day ago, after the first day: the noon is expected at six", () => {
    const history = recorded(0, 30, wave);
    expect(peak(history, wave(30), 30, 6)).toBe(300);
    expect(peak(history, wave(30), 30, 2)).toBe(Math.ceil(wave(8)));
    expect(peak(history, wave(30), 30, 24)).toBe(300);
  });

  it("is what it was a week ago, after the first week: a quiet Saturday is no reason to expect a quiet Monday", () => {
    const weekly = (count: number): number => (Math.floor(count / 24) % 7 >= 5 ? 10 : wave(count));
    const history = recorded(0, 6 * 24 + 168, weekly);
    const sunday = 6 * 24 + 168 + 20;
    expect(peak(recorded(6 * 24 + 169, sunday, weekly, history), 10, sunday, 24)).toBe(300);
  });

  it("grows by what the last day has grown since the week before, by half at most", () => {
    const grown = (factor: number) => recorded(168, 168 + 24, (count) => wave(count) * factor, recorded(0, 167, wave));
    expect(peak(grown(1.2), wave(0) * 1.2, 168 + 24, 24)).toBe(360);
    expect(peak(grown(1.2), wave(0), 168 + 24, 24)).toBeGreaterThanOrEqual(360);
    expect(peak(grown(0.5), wave(0) * 0.5, 168 + 24, 24)).toBe(270);
    // The present is within what was expected, and growth is bounded.
    expect(peak(grown(1.5), wave(0) * 1.5, 168 + 24, 24)).toBe(450);
  });

  it("is larger by as much as the present is above what was expected of it: a launch in the morning is not over at noon", () => {
    const history = recorded(0, 24 + 6, (count) => wave(count) * (count >= 28 ? 1.5 : 1));
    expect(peak(history, wave(30) * 1.5, 30, 6)).toBe(450);
    expect(peak(history, wave(30) * 9, 30, 6)).toBe(Math.max(600, Math.ceil(wave(30) * 9)));
    // But tomorrow is no launch day for it.
    const evening = recorded(0, 46, (count) => wave(count) * (count >= 44 ? 1.5 : 1));
    expect(peak(evening, wave(46) * 1.5, 46, 20)).toBe(300);
  });

  it("is no larger by night for what it takes on the mean of a day", () => {
    const night = { at: hour(48), untilMs: 24 * HOUR_MS, present: cpu(wave(48)) };
    expect(forecastPeak(recorded(0, 47, wave), cpu(200), night).milliCpu).toBe(300);
    expect(forecastPeak(recorded(0, 47, wave), cpu(310), night).milliCpu).toBe(310);
  });

  it("lets one hour that was missed be the one before it", () => {
    const history = recorded(0, 11, wave);
    expect(peak(history, wave(34), 34, 2)).toBe(Math.ceil(wave(11)));
  });

  describe("within a declared peak", () => {
    /** Of twice as much, from one hour to another, both counted as those of the history. */
    const launch = (from: number, until: number, factor = 2): PeakWindow => ({
      peak: { name: "launch", schedule: "0 8 * * *", duration: `${until - from}h`, factor },
      ...{ from: hour(from), until: hour(until) },
    });
    const within = (history: DemandHistory | undefined, now: number, peaks: readonly PeakWindow[], [at, hours] = [30, 6]) =>
      forecastPeak(history, cpu(now), { at: hour(at), untilMs: hours * HOUR_MS, present: cpu(now), peaks }).milliCpu;

    it("is its factor of what it takes now, where nothing is known", () => {
      expect(within(undefined, 120, [launch(33, 36)])).toBe(240);
      expect(within(undefined, 120, [launch(37, 40)])).toBe(120);
      expect(within(undefined, 120, [launch(37, 40)], [30, 24])).toBe(240);
      expect(within(undefined, 120, [launch(27, 30)])).toBe(120);
    });

    it("is no more than it takes now, once it takes that much", () => {
      expect(within(undefined, 240, [launch(29, 33)])).toBe(240);
      expect(within(undefined, 300, [launch(29, 33)])).toBe(300);
    });

    it("is its factor of the most that is expected within a day without it", () => {
      expect(within(recorded(0, 30, wave), wave(30), [launch(33, 36)])).toBe(600);
    });

    it("does not count again what was measured within it", () => {
      const peaks = [launch(8, 10), launch(32, 34)];
      const history = recorded(0, 30, (count) => (count >= 8 && count < 10 ? 600 : 200));
      expect(within(history, 200, peaks)).toBe(600);
      expect(within(history, 200, [launch(8, 10, 5), launch(32, 34, 5)])).toBe(1_000);
    });

    it("is counted once where two of them overlap: the largest", () => {
      expect(within(undefined, 120, [launch(33, 36), launch(34, 40, 3), launch(35, 36, 1.5)])).toBe(360);
    });

    it("does not have what was declared taken for more than was expected", () => {
      // Twice as much at ten, as declared: noon is expected as it was, and not twice as large too.
      expect(within(recorded(0, 33, wave), 600, [launch(34, 35)], [34, 6])).toBe(600);
      expect(within(recorded(0, 33, wave), 600, [], [34, 6])).toBeGreaterThan(600 - 1);
      expect(within(recorded(0, 33, wave), 500, [], [34, 6])).toBeGreaterThan(500);
      expect(within(recorded(0, 33, wave), 500, [launch(34, 35)], [34, 6])).toBe(600);
    });

    it("leaves what is counted as it is", () => {
      const now = loadVector((dimension) => (dimension === "applications" ? 1_000 : 100));
      expect(
        forecastPeak(undefined, now, { at: hour(30), untilMs: HOUR_MS, present: now, peaks: [launch(30, 31), launch(31, 32)] }),
      ).toMatchObject({
        applications: 1_000,
        clusterEntries: 100,
        milliCpu: 100,
        gitPerMinute: 100,
      });
      expect(forecastPeak(undefined, now, { at: hour(30), untilMs: HOUR_MS, present: now, peaks: [launch(31, 32)] })).toMatchObject({
        ...{ applications: 1_000, clusterEntries: 100, milliCpu: 200, gitPerMinute: 200 },
      });
    });
  });

  it("is never less than what it takes now, in any dimension", () => {
    const now = loadVector((dimension) => (dimension === "applications" ? 1_000 : 1));
    expect(forecastPeak(recorded(0, 200, wave), now, { at: hour(200), untilMs: 24 * HOUR_MS, present: now })).toMatchObject({
      applications: 1_000,
      cachedResources: 1,
    });
  });
});

describe("what a class takes at this time of every week", () => {
  it("is what it took a week ago, in this hour and in the next, larger by what it has grown", () => {
    const history = recorded(168, 168 + 30, (count) => wave(count) * 1.2, recorded(0, 167, wave));
    const usual = usualLoads(history, hour(168 + 31)).map(({ milliCpu }) => Math.round(milliCpu));
    expect(usual).toEqual([Math.round(wave(7) * 1.2), Math.round(wave(8) * 1.2)]);
  });

  it("is not known before a week is", () => {
    expect(usualLoads(undefined, hour(0))).toEqual([]);
    expect(usualLoads(recorded(0, 100, wave), hour(101))).toEqual([]);
  });
});

describe("hours that were not believed", () => {
  it("are taken over as if they had been measured then", () => {
    const whole = recorded(0, 40, wave);
    expect(withDemand(recorded(0, 20, wave), recorded(21, 40, wave))).toEqual(whole);
    expect(withDemand(whole, undefined)).toBe(whole);
    expect(withDemand(undefined, undefined)).toBeUndefined();
  });
});
