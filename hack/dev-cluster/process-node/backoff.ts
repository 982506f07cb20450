export interface CrashBackoff {
  readonly minMs: number;
  readonly maxMs: number;
}

/** A kubelet waits 10 s to 300 s; with a tenth of that a crash loop can still be seen, and a test of one ends in time. */
export const developmentBackoff: CrashBackoff = { minMs: 1000, maxMs: 30_000 };

/** How long to wait before the start that follows `crashes` ends in a row, in ms: nothing the first time, then doubling. */
export function restartDelayMs(crashes: number, backoff: CrashBackoff): number {
  return crashes <= 1 ? 0 : Math.min(backoff.maxMs, backoff.minMs * 2 ** (crashes - 2));
}

/** Ends in a row, counting the one just seen; whoever ran for twice the longest wait starts counting anew, as with a kubelet. */
export function crashesInARow(before: number, ranMs: number, backoff: CrashBackoff): number {
  return ranMs > 2 * backoff.maxMs ? 1 : before + 1;
}
