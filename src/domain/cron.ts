/** Cron's five fields: minute, hour, day of month, month, day of week (0 and 7 are Sunday). */

export const MINUTE_MS = 60_000;
export const DAY_MINUTES = 24 * 60;
/** The least and the largest value of each of the five fields, in cron's order. */
const RANGES: readonly Range[] = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 7],
];

/** The values that each of the five fields allows, in cron's order. Sunday is 0 or 7, or both. */
export type Schedule = readonly ReadonlySet<number>[];

/**
 * Parses the five fields: `*`, numbers, ranges, lists and steps, but no names of months or days. `undefined`: it is not a
 * schedule.
 */
export function parseSchedule(text: string): Schedule | undefined {
  const fields = text.trim().split(/\s+/);
  if (fields.length !== RANGES.length) return undefined;
  const sets = fields.map((field, index) => parseField(field, RANGES[index] as Range));
  return sets.every((set) => set !== undefined) ? sets : undefined;
}

type Range = readonly [least: number, most: number];

function parseField(field: string, range: Range): ReadonlySet<number> | undefined {
  const parts = field.split(",").map((part) => parsePart(part, range));
  return parts.every((part) => part !== undefined) ? new Set(parts.flat()) : undefined;
}

/** One part of a list. A number with a step goes on to the end of the range: minutes `20/20` are 20 and 40. */
function parsePart(part: string, [least, most]: Range): readonly number[] | undefined {
  const match = /^(?:\*|(\d+)(?:-(\d+))?)(?:\/(\d+))?$/.exec(part);
  if (match === null) return undefined;
  const [, low, high, step] = match;
  const from = Number(low ?? least);
  const isOne = low !== undefined && step === undefined;
  const to = Number(high ?? (isOne ? low : most));
  const by = Number(step ?? 1);
  if (by === 0 || from < least || to > most || from > to) return undefined;
  return Array.from({ length: Math.floor((to - from) / by) + 1 }, (_, index) => from + index * by);
}

/** Whether one of its times is in this minute, counted from the epoch, of a clock that shows UTC. */
export function beginsAt(schedule: Schedule, minute: number): boolean {
  const [minutes, hours] = schedule;
  const day = Math.floor(minute / DAY_MINUTES);
  const ofDay = minute - day * DAY_MINUTES;
  return minutes?.has(ofDay % 60) === true && hours?.has(Math.floor(ofDay / 60)) === true && isOnDay(schedule, day);
}

/**
 * Whether its times are on this day, counted from the epoch. As in cron, a schedule that limits both day of month and day of week is met by a day
 * that matches one of the two.
 */
export function isOnDay(schedule: Schedule, day: number): boolean {
  const [, , days, months, weekdays] = schedule;
  const [month, date] = monthAndDate(day);
  if (months?.has(month) !== true) return false;
  // The first of January 1970 was a Thursday.
  const weekday = (day + 4) % 7;
  const isWeekday = weekdays?.has(weekday) === true || (weekday === 0 && weekdays?.has(7) === true);
  const [isAnyDate, isAnyWeekday] = areDaysOpen(schedule);
  if (isAnyDate || isAnyWeekday) return (isAnyDate || days?.has(date) === true) && (isAnyWeekday || isWeekday);
  return days?.has(date) === true || isWeekday;
}

/** Leap days come every fourth year, and not in every hundredth: a schedule that is met at all is met within so many days. */
const TRIED_DAYS = 8 * 366;

/** Whether a schedule is met by any day: the 31st of February is not. */
export function isEverMet(schedule: Schedule): boolean {
  return Array.from({ length: TRIED_DAYS }, (_, day) => day).some((day) => isOnDay(schedule, day));
}

/** Whether a schedule allows every day of the month, and whether it allows every day of the week. 0 and 7 are both Sunday. */
export function areDaysOpen([, , days, , weekdays = new Set()]: Schedule): readonly [date: boolean, weekday: boolean] {
  return [days?.size === 31, new Set([...weekdays].map((day) => day % 7)).size === 7];
}

/**
 * Month and date of a day, counted from the epoch (H. Hinnant, "chrono-compatible low-level date algorithms"). Years begin on
 * the first of March, so that a leap day is the last of its year. From the first of March of year 0 to the epoch there are
 * 719 468 days; an era of 400 years has 146 097.
 */
function monthAndDate(day: number): readonly [month: number, date: number] {
  const shifted = day + 719_468;
  const era = Math.floor(shifted / 146_097);
  const ofEra = shifted - era * 146_097;
  const year = Math.floor((ofEra - Math.floor(ofEra / 1_460) + Math.floor(ofEra / 36_524) - Math.floor(ofEra / 146_096)) / 365);
  const ofYear = ofEra - (365 * year + Math.floor(year / 4) - Math.floor(year / 100));
  const fromMarch = Math.floor((5 * ofYear + 2) / 153);
  return [fromMarch < 10 ? fromMarch + 3 : fromMarch - 9, ofYear - Math.floor((153 * fromMarch + 2) / 5) + 1];
}
