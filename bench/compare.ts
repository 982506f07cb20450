import { keyOf, ratioOf, type SizedFigure } from "./figures.ts";
import { short } from "./table.ts";

export interface Difference {
  readonly key: string;
  readonly before: number;
  readonly now: number;
  /** Share by which it is worse. Negative: it is better. */
  readonly worseBy: number;
  /** Share by which it may be worse by chance. */
  readonly allowed: number;
  readonly isRegression: boolean;
}

/** Two runs of the same code on a shared machine differ by at least this share, whatever their repeats say. */
const LEAST = 0.15;
/** By chance alone, two figures differ by more than this many standard errors once in a few hundred. */
const ERRORS = 3;

/**
 * Compares the figures that both runs have. Where a figure has a limit, its ratio to the limit of the same run is
 * compared, because machines and days differ. A figure that is worse by more than the noise of both is a regression.
 */
export function compareRuns(before: readonly SizedFigure[], now: readonly SizedFigure[]): readonly Difference[] {
  const known = new Map(before.map((figure) => [keyOf(figure), figure]));
  return now.flatMap((figure) => {
    const old = known.get(keyOf(figure));
    return old === undefined ? [] : (difference(old, figure) ?? []);
  });
}

function difference(old: SizedFigure, now: SizedFigure): Difference | undefined {
  const [a, b] = [ratioOf(old) ?? old.value, ratioOf(now) ?? now.value];
  if (!(a > 0 && b > 0) || (old.limit === undefined) !== (now.limit === undefined)) return undefined;
  const worseBy = now.better === "lower" ? b / a - 1 : a / b - 1;
  const allowed = Math.max(LEAST, ERRORS * Math.hypot(old.noise, now.noise));
  return { key: keyOf(now), before: a, now: b, worseBy, allowed, isRegression: worseBy > allowed };
}

export function renderDifferences(differences: readonly Difference[]): string {
  return differences
    .map(({ key, before, now, worseBy, allowed, isRegression }) => {
      const how = worseBy > 0 ? `${short(worseBy * 100)} % worse` : `${short(-worseBy * 100)} % better`;
      return `${isRegression ? "WORSE" : "     "} ${key}: ${short(before)} → ${short(now)}, ${how} (${short(allowed * 100)} % are noise)`;
    })
    .join("\n");
}
