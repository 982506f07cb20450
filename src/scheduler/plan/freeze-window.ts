import { type Millis, millis } from "../../domain/clock.ts";
import { areDaysOpen, beginsAt, MINUTE_MS, parseSchedule } from "../../domain/cron.ts";

/** A freeze that recurs: it begins at each time of a cron schedule, in UTC, and lasts `durationMs`. */
export interface FreezeWindow {
  /** Cron's five fields: minute, hour, day of month, month, day of week (0 and 7 are Sunday). */
  readonly schedule: string;
  readonly durationMs: number;
}

/** A longer window is cut to this length: it bounds how far `frozenUntil` looks back, minute by minute. */
const LONGEST_MINUTES = 31 * 24 * 60;

/**
 * When the freeze that holds now ends. Where windows overlap, that is the end of the one that began last. `undefined`: none
 * holds now, or the schedule is invalid.
 */
export function frozenUntil(window: FreezeWindow, now: Millis): Millis | undefined {
  const schedule = parseSchedule(window.schedule);
  if (schedule === undefined || !(window.durationMs > 0)) return undefined;
  const minute = Math.floor(now / MINUTE_MS);
  const durationMs = Math.min(window.durationMs, LONGEST_MINUTES * MINUTE_MS);
  for (let back = 0; back * MINUTE_MS <= durationMs; back += 1) {
    const until = (minute - back) * MINUTE_MS + durationMs;
    if (until <= now) return undefined;
    if (beginsAt(schedule, minute - back)) return millis(until);
  }
  return undefined;
}

/**
 * The schedule as expressions for node-cron, which differs from cron in two ways. It reads some ranges and steps differently,
 * so each field becomes a plain list. And it fires only if day of month and day of week both match. Where the schedule
 * limits both, one of them is enough for cron: then there is one expression for each. Empty for an invalid schedule.
 */
export function cronExpressions(text: string): readonly string[] {
  const schedule = parseSchedule(text);
  if (schedule === undefined) return [];
  const [minutes = "", hours = "", days = "", months = "", weekdays = ""] = schedule.map((field) => [...field].join(","));
  const [isAnyDate, isAnyWeekday] = areDaysOpen(schedule);
  if (isAnyDate || isAnyWeekday) return [`${minutes} ${hours} ${days} ${months} ${weekdays}`];
  return [`${minutes} ${hours} ${days} ${months} *`, `${minutes} ${hours} * ${months} ${weekdays}`];
}
