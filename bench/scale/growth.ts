/** A figure at one number of applications. */
export interface Point {
  readonly applications: number;
  readonly value: number;
}

/**
 * The exponent b of value = a · applications^b that fits best: the slope of the least-squares line through the logarithms. 1: twice the applications
 * cost twice as much; 0: as much. `undefined` with fewer than two sizes, or where a value is not above 0.
 */
export function exponentOf(points: readonly Point[]): number | undefined {
  const logs = points.map(({ applications, value }) => ({ x: Math.log(applications), y: Math.log(value) }));
  if (new Set(points.map(({ applications }) => applications)).size < 2 || logs.some(({ y }) => !Number.isFinite(y))) return undefined;
  const mean = (of: (log: { readonly x: number; readonly y: number }) => number) =>
    logs.reduce((sum, log) => sum + of(log), 0) / logs.length;
  const [x0, y0] = [mean(({ x }) => x), mean(({ y }) => y)];
  const [above, below] = [
    logs.reduce((sum, { x, y }) => sum + (x - x0) * (y - y0), 0),
    logs.reduce((sum, { x }) => sum + (x - x0) ** 2, 0),
  ];
  return above / below;
}
