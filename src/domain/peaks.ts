import { type Millis, millis } from "./clock.ts";
import { DAY_MINUTES, isOnDay, MINUTE_MS, parseSchedule, type Schedule } from "./cron.ts";

/** A time of more load that is known beforehand. It recurs, and asks for more instances while it lasts. */
export interface Peak {
  readonly name: string;
  /** Five fields of cron: when it begins, by the clock of its time zone. */
  readonly schedule: string;
  /** A name of the IANA database; absent: UTC. */
  readonly timezone?: string;
  /** How long it lasts, as people write it: 30m, 3h, 2d. */
  readonly duration: string;
  /** How many times as much CPU and Git requests as otherwise its class takes then. Either this or `instances`. */
  readonly factor?: number;
  /** How many instances its pool has then at least. */
  readonly instances?: number;
}

/** One time at which a peak holds. */
export interface PeakWindow {
  readonly peak: Peak;
  readonly from: Millis;
  readonly until: Millis;
}

const UNIT_MS: Readonly<Record<string, number>> = { m: MINUTE_MS, h: 60 * MINUTE_MS, d: DAY_MINUTES * MINUTE_MS };
const DAY_MS = DAY_MINUTES * MINUTE_MS;
/** How long a peak may last, in ms. What is longer is no peak. */
export const LONGEST_PEAK_MS = 31 * DAY_MS;

/** How long a peak lasts, in ms; `undefined`: the text is no such time. */
export function peakMs(duration: string): number | undefined {
  const match = /^([1-9]\d{0,4})([mhd])$/.exec(duration);
  return match === null ? undefined : Number(match[1]) * (UNIT_MS[match[2] ?? ""] ?? 0);
}

/** Whether the time zone is known here. */
export function isTimeZone(name: string): boolean {
  return offsetsOf(name) !== undefined;
}

/**
 * The times at which a peak holds that are not over at `from` and have begun at `until`, the earliest first. Those that touch one another are one. A time that the
 * clock skips begins one as much later, one that it shows twice begins one the first time. None where anything of the peak cannot be read.
 */
export function peakWindows(peak: Peak, { from, until }: { readonly from: Millis; readonly until: Millis }): readonly PeakWindow[] {
  const schedule = parseSchedule(peak.schedule);
  const offsets = offsetsOf(peak.timezone ?? "UTC");
  const lastsMs = peakMs(peak.duration);
  if (schedule === undefined || offsets === undefined || lastsMs === undefined) return [];
  const windows: { peak: Peak; from: Millis; until: Millis }[] = [];
  for (const at of beginnings(schedule, offsets, { from: from - lastsMs, until })) {
    const last = windows.at(-1);
    const end = millis(at + lastsMs);
    if (last !== undefined && at <= last.until) last.until = end;
    else windows.push({ peak, from: millis(at), until: end });
  }
  return windows;
}

/** Of windows that hold at one time, the one that counts: with the largest factor, and with the most instances. Of equal ones the one that ends last. */
export function largestOf(windows: readonly PeakWindow[], what: "factor" | "instances"): PeakWindow | undefined {
  return windows.reduce<PeakWindow | undefined>((most, each) => {
    const [size, known] = [each.peak[what], most?.peak[what]];
    if (size === undefined) return most;
    if (most === undefined || known === undefined || size > known) return each;
    return size === known && each.until > most.until ? each : most;
  }, undefined);
}

/** By how much a clock is ahead of UTC at a time, in ms. */
type Offsets = (at: number) => number;

/** Zones change their clocks at quarters of an hour. */
const QUARTER_MS = 15 * MINUTE_MS;

function offsetsOf(timeZone: string): Offsets | undefined {
  try {
    const format = new Intl.DateTimeFormat("en", { timeZone, timeZoneName: "longOffset" });
    const known = new Map<number, number>();
    return (at) => {
      const quarter = Math.floor(at / QUARTER_MS);
      const found = known.get(quarter) ?? offsetMs(format.formatToParts(quarter * QUARTER_MS));
      known.set(quarter, found);
      return found;
    };
  } catch {
    return undefined;
  }
}

/** Of a text like `GMT`, `GMT+02:00` or `GMT-03:30`. */
function offsetMs(parts: readonly Intl.DateTimeFormatPart[]): number {
  const text = parts.find(({ type }) => type === "timeZoneName")?.value ?? "";
  const [, sign, hours = "0", minutes = "0", seconds = "0"] = /([+-])(\d\d):(\d\d)(?::(\d\d))?$/.exec(text) ?? [];
  return (sign === "-" ? -1 : 1) * ((Number(hours) * 60 + Number(minutes)) * MINUTE_MS + Number(seconds) * 1_000);
}

/** When a schedule begins after `from` and not after `until`, in order. */
function beginnings(
  schedule: Schedule,
  offsets: Offsets,
  { from, until }: { readonly from: number; readonly until: number },
): readonly number[] {
  const [minutes = new Set<number>(), hours = new Set<number>()] = schedule;
  const times: number[] = [];
  // No clock is a day ahead or behind.
  for (let day = Math.floor(from / DAY_MS) - 1; day <= Math.floor(until / DAY_MS) + 1; day += 1) {
    if (!isOnDay(schedule, day)) continue;
    for (const hour of hours) for (const minute of minutes) times.push(timeOf(day * DAY_MS + (hour * 60 + minute) * MINUTE_MS, offsets));
  }
  return times.filter((at) => at > from && at <= until).sort((a, b) => a - b);
}

/** When a clock shows a time, which is given as if it showed UTC. */
function timeOf(shown: number, offsets: Offsets): number {
  const [before, after] = [shown - offsets(shown - DAY_MS), shown - offsets(shown + DAY_MS)];
  const shows = [before, after].filter((at) => at + offsets(at) === shown);
  return shows.length === 0 ? before : Math.min(...shows);
}
