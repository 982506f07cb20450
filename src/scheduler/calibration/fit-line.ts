export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface FittedLine {
  readonly base: number;
  readonly slope: number;
  /** Share of the variance of y that the line explains; absent: x varies too little to tell, and the line goes through the origin. */
  readonly fit: number | undefined;
}

/** Least spread of x, as a share of its largest, from which a slope can be read. */
const SPREAD = 0.2;

/**
 * Least squares. If x hardly varies, or if the line would begin below zero, y is taken to be proportional to x: that blames x for a
 * constant part of y too, so it errs on the safe side. `undefined`: there is nothing to divide by.
 */
export function fitLine(points: readonly Point[]): FittedLine | undefined {
  const mean = (of: (point: Point) => number): number => points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const [x, y] = [mean((point) => point.x), mean((point) => point.y)];
  const [low, high] = [Math.min(...points.map((point) => point.x)), Math.max(...points.map((point) => point.x))];
  if (points.length === 0 || !(x > 0)) return undefined;
  const proportional = { base: 0, slope: y / x, fit: undefined };
  if (high - low < SPREAD * high) return proportional;
  const covariance = mean((point) => (point.x - x) * (point.y - y));
  const slope = covariance / mean((point) => (point.x - x) ** 2);
  const base = y - slope * x;
  if (slope <= 0 || base < 0) return proportional;
  const variance = mean((point) => (point.y - y) ** 2);
  const left = mean((point) => (point.y - base - slope * point.x) ** 2);
  return { base, slope, fit: variance === 0 ? 1 : 1 - left / variance };
}
