/** How many Events a namespace, or a resource, may still have, as it was at a moment of the monotonic clock, in ms. */
export interface Allowance {
  readonly left: number;
  readonly atMs: number;
}

/** So many at once, and then one each so often, in ms. */
export interface Rate {
  readonly burst: number;
  readonly eachMs: number;
}

/** Of a namespace: a few hundred an hour, which is what an API server keeps. */
export const OF_NAMESPACE: Rate = { burst: 50, eachMs: 10_000 };
/** Of a resource, about one and the same thing that is wrong in ever new words: a sync that fails of something else each time it is tried. */
export const OF_REWORDING: Rate = { burst: 3, eachMs: 10 * 60_000 };

/** Whether there may be one more Event, and what is left then. */
export function spend(
  before: Allowance | undefined,
  nowMs: number,
  { burst, eachMs }: Rate,
): { readonly isAllowed: boolean; readonly after: Allowance } {
  const left = before === undefined ? burst : Math.min(burst, before.left + (nowMs - before.atMs) / eachMs);
  return left < 1 ? { isAllowed: false, after: { left, atMs: nowMs } } : { isAllowed: true, after: { left: left - 1, atMs: nowMs } };
}

/** Whether it is as good as none: whoever spent nothing for long has everything. */
export function isWhole({ left, atMs }: Allowance, nowMs: number, { burst, eachMs }: Rate): boolean {
  return left + (nowMs - atMs) / eachMs >= burst;
}
