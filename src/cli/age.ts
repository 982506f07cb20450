import { systemClock } from "../runtime/clock.ts";

const [MINUTE, HOUR, DAY] = [60, 3600, 86_400];

/** How long ago a time was, as kubectl says it: `95s`, `5m12s`, `47m`, `5h3m`, `28h`, `5d3h`, `412d`. */
export function age(iso: string | null, now = systemClock.now()): string | null {
  if (iso === null) return null;
  return ageText(Math.max(0, Math.floor((now - Date.parse(iso)) / 1000)));
}

/** How long it is until a time, in the same words; nothing where that has passed. */
export function timeLeft(iso: string, now = systemClock.now()): string {
  const seconds = Math.floor((Date.parse(iso) - now) / 1000);
  return seconds < 0 ? "" : ageText(seconds);
}

function ageText(seconds: number): string {
  const pair = (large: number, [a, b]: string, small: number): string => {
    const rest = Math.floor((seconds % large) / small);
    return `${Math.floor(seconds / large)}${a}${rest === 0 ? "" : `${rest}${b}`}`;
  };
  if (seconds < 2 * MINUTE) return `${seconds}s`;
  if (seconds < 10 * MINUTE) return pair(MINUTE, "ms", 1);
  if (seconds < 3 * HOUR) return `${Math.floor(seconds / MINUTE)}m`;
  if (seconds < 8 * HOUR) return pair(HOUR, "hm", MINUTE);
  if (seconds < 2 * DAY) return `${Math.floor(seconds / HOUR)}h`;
  if (seconds < 8 * DAY) return pair(DAY, "dh", HOUR);
  return `${Math.floor(seconds / DAY)}d`;
}

/** A time without its milliseconds, which no person reads. */
export function timeText(iso: string | null): string | null {
  return iso === null ? null : iso.replace(/\.\d+Z$/, "Z");
}

/** Enough of an id to tell it from any other: its time, and which of that millisecond's it was. Commands take it. */
export function shortId(id: string): string {
  return id.slice(0, 18);
}
