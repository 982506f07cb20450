import fc from "fast-check";
import { createTask } from "node-cron";
import { describe, expect, it } from "vitest";
import { millis, parseRfc3339, rfc3339 } from "./clock.ts";
import { isEverMet, parseSchedule } from "./cron.ts";
import { isTimeZone, largestOf, type Peak, peakMs, peakWindows } from "./peaks.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const at = (text: string) => parseRfc3339(text) ?? millis(0);
const peak = (over: Partial<Peak> = {}): Peak => ({ name: "mornings", schedule: "0 8 * * 1-5", duration: "3h", factor: 1.5, ...over });
const windows = (one: Peak, from: string, until: string) =>
  peakWindows(one, { from: at(from), until: at(until) }).map((window) => `${rfc3339(window.from)} ${rfc3339(window.until)}`);

describe("a peak holds", () => {
  it("from each time of its schedule for as long as it lasts", () => {
    // 2026-11-27 is a Friday.
    expect(windows(peak(), "2026-11-27T00:00:00Z", "2026-11-30T08:00:00Z")).toEqual([
      "2026-11-27T08:00:00Z 2026-11-27T11:00:00Z",
      "2026-11-30T08:00:00Z 2026-11-30T11:00:00Z",
    ]);
  });

  it("at a time within it, and not when it is over or has not begun", () => {
    expect(windows(peak(), "2026-11-27T10:59:59Z", "2026-11-27T10:59:59Z")).toHaveLength(1);
    expect(windows(peak(), "2026-11-27T11:00:00Z", "2026-11-27T11:00:00Z")).toEqual([]);
    expect(windows(peak(), "2026-11-27T07:59:59Z", "2026-11-27T07:59:59Z")).toEqual([]);
    expect(windows(peak(), "2026-11-27T08:00:00Z", "2026-11-27T08:00:00Z")).toHaveLength(1);
  });

  it("by the clock of its time zone, in summer and in winter", () => {
    const berlin = peak({ schedule: "0 8 * * *", timezone: "Europe/Berlin" });
    expect(windows(berlin, "2026-07-01T00:00:00Z", "2026-07-01T12:00:00Z")).toEqual(["2026-07-01T06:00:00Z 2026-07-01T09:00:00Z"]);
    expect(windows(berlin, "2026-12-01T00:00:00Z", "2026-12-01T12:00:00Z")).toEqual(["2026-12-01T07:00:00Z 2026-12-01T10:00:00Z"]);
    const [auckland, tahiti] = [peak({ timezone: "Pacific/Auckland" }), peak({ timezone: "Pacific/Tahiti" })];
    // Monday morning is Sunday in UTC there, and Friday evening here.
    expect(windows(auckland, "2026-11-29T00:00:00Z", "2026-11-29T23:59:00Z")).toEqual(["2026-11-29T19:00:00Z 2026-11-29T22:00:00Z"]);
    expect(windows(tahiti, "2026-11-27T12:00:00Z", "2026-11-28T12:00:00Z")).toEqual(["2026-11-27T18:00:00Z 2026-11-27T21:00:00Z"]);
  });

  it("once where the clock shows its beginning twice, and later where the clock skips it", () => {
    const berlin = peak({ schedule: "30 2 * * *", timezone: "Europe/Berlin", duration: "30m" });
    expect(windows(berlin, "2026-10-24T12:00:00Z", "2026-10-25T12:00:00Z")).toEqual(["2026-10-25T00:30:00Z 2026-10-25T01:00:00Z"]);
    expect(windows(berlin, "2026-03-28T12:00:00Z", "2026-03-29T12:00:00Z")).toEqual(["2026-03-29T01:30:00Z 2026-03-29T02:00:00Z"]);
  });

  it("without a break where one time of it ends as the next one begins", () => {
    expect(windows(peak({ schedule: "0 */2 * * *", duration: "2h" }), "2026-11-27T00:00:00Z", "2026-11-27T05:00:00Z")).toEqual([
      "2026-11-27T00:00:00Z 2026-11-27T06:00:00Z",
    ]);
  });

  it("never, where anything of it cannot be read", () => {
    for (const broken of [{ schedule: "0 8 * *" }, { timezone: "Mars/Olympus" }, { duration: "0h" }, { duration: "3" }])
      expect(windows(peak(broken), "2026-11-27T00:00:00Z", "2026-11-27T12:00:00Z")).toEqual([]);
  });

  it("in the minutes in which a timer with its schedule fires, in any time zone", () => {
    const number = (most: number) => fc.integer({ min: 0, max: most });
    const one = fc.record({
      schedule: fc.tuple(number(59), number(23), number(6)).map(([minute, hour, day]) => `${minute} ${hour} * * ${day}`),
      timezone: fc.constantFrom("UTC", "Europe/Berlin", "America/St_Johns", "Asia/Kathmandu", "Pacific/Auckland", "Australia/Lord_Howe"),
    });
    // January and July change no clock of these zones.
    const day = fc.constantFrom("2026-01-12T00:00:00Z", "2026-07-13T00:00:00Z").map(at);
    fc.assert(
      fc.property(one, day, (given, from) => {
        const task = createTask(given.schedule, () => undefined, { timezone: given.timezone });
        const [found] = peakWindows(peak({ ...given, duration: "1m" }), { from, until: millis(from + 7 * 24 * HOUR_MS) });
        const begins = found?.from ?? 0;
        expect([task.match(new Date(begins)), task.match(new Date(begins + MINUTE_MS))]).toEqual([true, false]);
        void task.destroy();
      }),
    );
  });
});

describe("what a peak says", () => {
  it("is how long it lasts, and in which time zone", () => {
    expect(["30m", "3h", "2d", "0h", "h", "3", "1.5h", "-3h", "3h30m"].map(peakMs)).toEqual([
      ...[30 * MINUTE_MS, 3 * HOUR_MS, 48 * HOUR_MS],
      ...Array(6).fill(undefined),
    ]);
    expect(["UTC", "Europe/Berlin", "Mars/Olympus", ""].map(isTimeZone)).toEqual([true, true, false, false]);
  });

  it("is never met by a day that no month has", () => {
    const isMet = (text: string) => isEverMet(parseSchedule(text) ?? []);
    expect(["0 0 31 2 *", "0 0 29 2 *", "0 0 31 2 1", "0 0 * * 0"].map(isMet)).toEqual([false, true, true, true]);
  });
});

describe("of peaks that overlap", () => {
  const window = (over: Partial<Peak>, until = 10) => ({ peak: peak(over), from: millis(0), until: millis(until) });
  const { factor: _factor, ...bare } = peak();
  const counted = (instances: number, until = 10) => ({ peak: { ...bare, instances }, from: millis(0), until: millis(until) });

  it("the largest counts, and of equal ones the one that ends last", () => {
    const [small, large, longer] = [window({ factor: 1.5 }), window({ factor: 2 }), window({ factor: 2 }, 20)];
    expect(largestOf([small, large, longer], "factor")).toBe(longer);
    expect(largestOf([longer, large, small], "factor")).toBe(longer);
    expect(largestOf([counted(3), small, counted(5)], "instances")?.peak.instances).toBe(5);
    expect(largestOf([counted(3)], "factor")).toBeUndefined();
    expect(largestOf([], "instances")).toBeUndefined();
  });
});
