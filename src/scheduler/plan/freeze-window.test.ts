import fc from "fast-check";
import { createTask } from "node-cron";
import { describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import { parseSchedule } from "../../domain/cron.ts";
import { cronExpressions, frozenUntil } from "./freeze-window.ts";

describe("a freeze window", () => {
  const HOUR = 3_600_000;
  // 2026-11-20 is a Friday.
  const at = (text: string) => millis(Date.parse(text));
  const until = (schedule: string, hours: number, now: string) => frozenUntil({ schedule, durationMs: hours * HOUR }, at(now));

  it("holds from its beginning until its end, and not before or after", () => {
    expect(until("0 18 * * 5", 62, "2026-11-20T17:59:59Z")).toBeUndefined();
    expect(until("0 18 * * 5", 62, "2026-11-20T18:00:00Z")).toBe(at("2026-11-23T08:00:00Z"));
    expect(until("0 18 * * 5", 62, "2026-11-23T07:59:59Z")).toBe(at("2026-11-23T08:00:00Z"));
    expect(until("0 18 * * 5", 62, "2026-11-23T08:00:00Z")).toBeUndefined();
  });

  it.each([
    ["*/15 * * * *", "2026-11-20T12:16:00Z", "2026-11-20T12:15:00Z"],
    ["5-10/5 3,4 * * *", "2026-11-20T04:20:00Z", "2026-11-20T04:10:00Z"],
    ["0 0 1 1 *", "2027-01-01T00:30:00Z", "2027-01-01T00:00:00Z"],
    ["0 0 29 2 *", "2028-02-29T00:30:00Z", "2028-02-29T00:00:00Z"],
    ["0 0 31 12 *", "2026-12-31T00:01:00Z", "2026-12-31T00:00:00Z"],
    ["0 0 * * 7", "2026-11-22T00:30:00Z", "2026-11-22T00:00:00Z"],
    ["0 0 * * 0", "2026-11-22T00:30:00Z", "2026-11-22T00:00:00Z"],
    ["0 0 13 * 5", "2026-11-20T00:30:00Z", "2026-11-20T00:00:00Z"],
    ["0 0 13 * 5", "2026-10-13T00:30:00Z", "2026-10-13T00:00:00Z"],
    ["20/20 * * * *", "2026-11-20T12:45:00Z", "2026-11-20T12:40:00Z"],
  ])("%s holds at %s since %s", (schedule, now, since) => {
    expect(until(schedule, 1, now)).toBe(at(since) + HOUR);
  });

  it("knows every day's month and date, in leap years and centuries too", () => {
    const DAY = 24 * HOUR;
    const ends = (year: number) => [`${year}-01-01`, `${year}-02-28`, `${year}-03-01`, `${year}-12-31`].map((day) => Date.parse(day));
    const days = Array.from({ length: 131 }, (_, index) => 1_970 + index).flatMap((year, index) => [
      ...ends(year),
      Date.parse(`${year}-03-01`) - DAY,
      Date.parse(`${year}-01-01`) + ((index * 37) % 365) * DAY,
    ]);
    for (const day of days) {
      const date = new Date(day);
      const schedule = `0 0 ${date.getUTCDate()} ${date.getUTCMonth() + 1} *`;
      expect(`${schedule}: ${frozenUntil({ schedule, durationMs: HOUR }, millis(day))}`).toBe(`${schedule}: ${day + HOUR}`);
    }
  });

  it("knows every day of the week, and holds on either kind of day when both are given", () => {
    const week = Array.from({ length: 7 }, (_, index) => `2026-11-${22 + index}T00:30:00Z`);
    for (const [weekday, now] of week.entries())
      expect(week.filter((each) => until(`0 0 * * ${weekday}`, 1, each) !== undefined)).toEqual([now]);
    // The 23rd is a Monday.
    expect(week.filter((each) => until("0 0 24 * 1", 1, each) !== undefined)).toEqual([week[1], week[2]]);
    expect(week.filter((each) => until("0 0 24 * *", 1, each) !== undefined)).toEqual([week[2]]);
    expect(week.filter((each) => until("0 0 * * 1-2", 1, each) !== undefined)).toEqual([week[1], week[2]]);
    // Sunday has two numbers, so that seven of them need not be the whole week.
    expect(week.filter((each) => until("0 0 * * 0,2-7", 1, each) !== undefined)).toEqual(week.toSpliced(1, 1));
    expect(week.filter((each) => until("0 0 24 * 0-7", 1, each) !== undefined)).toEqual([week[2]]);
  });

  it("holds a month at most, whatever its length", () => {
    expect(until("0 0 1 1 *", 24 * 40, "2026-01-31T23:59:00Z")).toBe(at("2026-02-01T00:00:00Z"));
    expect(until("0 0 1 1 *", 24 * 40, "2026-02-01T00:00:00Z")).toBeUndefined();
  });

  it("holds in its last part of a minute too, and may have more spaces", () => {
    const window = { schedule: "  0   18 * * 5 ", durationMs: 90_000 };
    expect(frozenUntil(window, at("2026-11-20T18:01:29Z"))).toBe(at("2026-11-20T18:01:30Z"));
    expect(frozenUntil(window, at("2026-11-20T18:01:30Z"))).toBeUndefined();
  });

  it("reads numbers, ranges, lists and steps", () => {
    const minutes = (field: string) => [...(parseSchedule(`${field} * * * *`)?.[0] ?? [])];
    expect(minutes("7")).toEqual([7]);
    expect(minutes("0,59")).toEqual([0, 59]);
    expect(minutes("5-8")).toEqual([5, 6, 7, 8]);
    expect(minutes("5-10/2")).toEqual([5, 7, 9]);
    expect(minutes("50/4")).toEqual([50, 54, 58]);
    expect(minutes("*/20")).toEqual([0, 20, 40]);
    expect(minutes("9-9")).toEqual([9]);
    for (const field of ["1a", "a1", "1-", "*5", "1-2-3", "1/", "+1", "1 2"]) expect(parseSchedule(`${field} * * * *`)).toBeUndefined();
    expect(parseSchedule("0 0 31 12 7")).toBeDefined();
    expect(parseSchedule("0 0 32 12 7")).toBeUndefined();
    expect(parseSchedule("0 0 31 0 7")).toBeUndefined();
  });

  it("begins when a timer with its expressions fires", () => {
    const field = (least: number, most: number) => {
      const number = fc.integer({ min: least, max: most });
      const range = fc.tuple(number, number).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`);
      const step = fc.integer({ min: 1, max: most });
      const steps = fc.tuple(fc.oneof(fc.constant("*"), range, number), step).map(([from, by]) => `${from}/${by}`);
      return fc.oneof(fc.constant("*"), fc.array(fc.oneof(number.map(String), range, steps), { minLength: 1, maxLength: 3 }).map(String));
    };
    // Only days up to the 28th, which each month has, so that the timer refuses none.
    const schedule = fc.tuple(field(0, 59), field(0, 23), field(1, 28), field(1, 12), field(0, 7)).map((fields) => fields.join(" "));
    const minute = fc.integer({ min: at("2026-01-01T00:00:00Z") / 60_000, max: at("2030-01-01T00:00:00Z") / 60_000 });
    const begins = (text: string, now: number) => frozenUntil({ schedule: text, durationMs: 60_000 }, millis(now)) !== undefined;
    fc.assert(
      fc.property(schedule, fc.array(minute, { minLength: 20, maxLength: 20 }), (text, minutes) => {
        const tasks = cronExpressions(text).map((each) => createTask(each, () => undefined, { timezone: "UTC" }));
        const calls = (now: number) => tasks.some((task) => task.match(new Date(now)));
        // A minute on the schedule's own days and hours: most others do not match for their hour alone.
        const likely = minutes.map((each) => {
          const [minutesOf = new Set(), hoursOf = new Set()] = parseSchedule(text) ?? [];
          const day = Math.floor(each / 1_440) * 1_440;
          return day + Number([...hoursOf][each % hoursOf.size]) * 60 + Number([...minutesOf][each % minutesOf.size]);
        });
        for (const each of [...minutes, ...likely].map((one) => one * 60_000))
          expect([each, calls(each)]).toEqual([each, begins(text, each)]);
        for (const task of tasks) void task.destroy();
      }),
    );
  });

  it("does not hold on another day or month", () => {
    expect(until("0 0 13 * *", 1, "2026-11-20T00:30:00Z")).toBeUndefined();
    expect(until("0 0 * * 5", 1, "2026-11-21T00:30:00Z")).toBeUndefined();
    expect(until("0 0 * 12 *", 1, "2026-11-20T00:30:00Z")).toBeUndefined();
    expect(until("0 0 1 3 *", 1, "2027-02-28T00:30:00Z")).toBeUndefined();
  });

  it.each([
    "",
    "* * * *",
    "* * * * * *",
    "60 * * * *",
    "* 24 * * *",
    "* * 0 * *",
    "* * * 13 *",
    "* * * * 8",
    "a * * * *",
    "*/0 * * * *",
    "5-1 * * * *",
    "-1 * * * *",
    "1,, * * * *",
  ])("%s is not a schedule, and never holds", (schedule) => {
    expect(parseSchedule(schedule)).toBeUndefined();
    expect(until(schedule, 1, "2026-11-20T00:30:00Z")).toBeUndefined();
  });

  it("never holds for no time, and not for ever", () => {
    for (const hours of [0, -1, Number.NaN]) expect(until("* * * * *", hours, "2026-11-20T00:30:00Z")).toBeUndefined();
    expect(until("0 0 1 1 *", 24 * 365, "2026-11-20T00:30:00Z")).toBeUndefined();
  });
});
