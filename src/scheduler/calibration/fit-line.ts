export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface FittedLine {
  readonly base: number;
  readonly slope: number;
  /** Part of the variance of y that the line explains; absent: x is too much the same to say, and the line goes through the origin. */
  readonly fit: number | undefined;
}

/** Least spread of x, as a share of its largest, from which a slope can be read. */
const SPREAD = 0.2;

/**
 * Least squares. Where x hardly varies, or the line would say that something takes less than nothing, y is taken to be in proportion to x: that
 * puts what is there in any case down to x too, so it errs on the safe side. `undefined`: there is nothing to divide by.
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
