/** How many Events a namespace may still have, as it was at a moment of the monotonic clock, in ms. */
export interface Allowance {
  readonly left: number;
  readonly atMs: number;
}

/** At once, and then one each so often, in ms: a few hundred an hour, which is what an API server keeps. */
export const BURST = 50;
export const EACH_MS = 10_000;

/** Whether a namespace may have one more Event, and what is left then. */
export function spend(before: Allowance | undefined, nowMs: number): { readonly isAllowed: boolean; readonly after: Allowance } {
  const left = before === undefined ? BURST : Math.min(BURST, before.left + (nowMs - before.atMs) / EACH_MS);
  return left < 1 ? { isAllowed: false, after: { left, atMs: nowMs } } : { isAllowed: true, after: { left: left - 1, atMs: nowMs } };
}

/** Whether it is as good as none: whoever spent nothing for long has everything. */
export function isWhole({ left, atMs }: Allowance, nowMs: number): boolean {
  return left + (nowMs - atMs) / EACH_MS >= BURST;
}
