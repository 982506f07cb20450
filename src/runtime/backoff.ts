export interface BackoffRange {
  readonly minMs: number;
  readonly maxMs: number;
}

/**
 * How long to wait after the given number of failures in a row (1 or more), in ms: doubles from `minMs` to `maxMs`, of which
 * the upper half is random, so that what failed together does not come back together and still never comes back at once.
 * `draw` is uniform in [0, 1).
 */
export function backoffMs(failures: number, range: BackoffRange, draw: number): number {
  // 2^30 times any sensible minimum is above any sensible maximum; a larger exponent would only overflow.
  const doubled = range.minMs * 2 ** Math.min(Math.max(failures, 1) - 1, 30);
  return Math.round(Math.min(doubled, range.maxMs) * (0.5 + draw / 2));
}
