/** The goal of a figure. `ratio`: of the figure to the limit measured in the same run. */
export interface Goal {
  readonly of: "value" | "ratio";
  readonly sense: "at most" | "at least";
  readonly bound: number;
}

/** One number of a run. */
export interface Figure {
  /** The measure it belongs to, e.g. `P1`. */
  readonly measure: string;
  readonly what: string;
  readonly unit: string;
  readonly better: "lower" | "higher";
  /** The median, where there are samples. */
  readonly value: number;
  readonly p99?: number;
  /** As a share of the value, see `noiseOf`. Where there is a limit, as a share of the ratio. */
  readonly noise: number;
  readonly limit?: { readonly what: string; readonly value: number; readonly p99?: number };
  readonly goal?: Goal;
  readonly samples?: number;
}

/** A figure with the number of applications at the time of the measurement. 0: the number does not matter. */
export interface SizedFigure extends Figure {
  readonly applications: number;
}

/** How many times the limit it is. `undefined`: there is no limit. */
export function ratioOf({ value, limit }: Pick<Figure, "value" | "limit">): number | undefined {
  return limit === undefined ? undefined : value / limit.value;
}

/** Whether the figure's goal is met. `undefined`: there is no goal, or no limit to compare with. */
export function isMet(figure: Figure): boolean | undefined {
  const { goal } = figure;
  const number = goal?.of === "ratio" ? ratioOf(figure) : figure.value;
  if (goal === undefined || number === undefined) return undefined;
  return goal.sense === "at most" ? number <= goal.bound : number >= goal.bound;
}

export function keyOf({ measure, what, applications }: SizedFigure): string {
  return `${measure} | ${what} | ${applications}`;
}
