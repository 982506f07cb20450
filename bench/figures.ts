/** What a figure has to be; `ratio` compares with the limit measured in the same run. */
export interface Goal {
  readonly of: "value" | "ratio";
  readonly sense: "at most" | "at least";
  readonly bound: number;
}

/** One number of a run. */
export interface Figure {
  /** Of the measure it belongs to, e.g. `P1`. */
  readonly measure: string;
  readonly what: string;
  readonly unit: string;
  readonly better: "lower" | "higher";
  /** Median where there are samples. */
  readonly value: number;
  readonly p99?: number;
  /** As a share of the value, see `noiseOf`; of the ratio where there is a limit. */
  readonly noise: number;
  readonly limit?: { readonly what: string; readonly value: number; readonly p99?: number };
  readonly goal?: Goal;
  readonly samples?: number;
}

/** A figure with the number of applications that were there when it was measured; 0 where that does not matter. */
export interface SizedFigure extends Figure {
  readonly applications: number;
}

/** How many times the limit; `undefined` without one. */
export function ratioOf({ value, limit }: Pick<Figure, "value" | "limit">): number | undefined {
  return limit === undefined ? undefined : value / limit.value;
}

/** Whether the figure's goal is met; `undefined` where there is none, or nothing to hold against it. */
export function isMet(figure: Figure): boolean | undefined {
  const { goal } = figure;
  const number = goal?.of === "ratio" ? ratioOf(figure) : figure.value;
  if (goal === undefined || number === undefined) return undefined;
  return goal.sense === "at most" ? number <= goal.bound : number >= goal.bound;
}

export function keyOf({ measure, what, applications }: SizedFigure): string {
  return `${measure} | ${what} | ${applications}`;
}
