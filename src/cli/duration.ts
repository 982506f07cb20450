import { InputError } from "../domain/errors.ts";

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Seconds of a text like `90m`, `4h`, `62h`, `7d` or `1d12h`. */
export function secondsOf(text: string, path: string): number {
  const parts = [...text.matchAll(/(\d{1,6})([smhd])/g)];
  const seconds = parts.reduce((sum, [, count, unit]) => sum + Number(count) * (SECONDS[unit ?? ""] ?? 0), 0);
  if (seconds > 0 && parts.map(([part]) => part).join("") === text) return seconds;
  throw new InputError(`${text} is no length of time`, { code: "cli.option", path, remedy: "Give one like 90m, 4h or 7d" });
}

/** A length of time in its largest whole units, as people give them. */
export function durationText(seconds: number): string {
  const parts = (["d", "h", "m", "s"] as const).reduce<{ readonly rest: number; readonly text: string }>(
    ({ rest, text }, unit) => {
      const count = Math.floor(rest / (SECONDS[unit] ?? 1));
      return { rest: rest - count * (SECONDS[unit] ?? 1), text: count === 0 ? text : `${text}${count}${unit}` };
    },
    { rest: seconds, text: "" },
  );
  return parts.text === "" ? "0s" : parts.text;
}
