export interface CrashBackoff {
  readonly minMs: number;
  readonly maxMs: number;
}

/** A kubelet waits 10 s to 300 s. With a tenth of that a crash loop is still visible, and its tests end in time. */
export const developmentBackoff: CrashBackoff = { minMs: 1000, maxMs: 30_000 };

/** How long to wait before the start after `crashes` ends in a row, in ms: nothing the first time, then doubling. */
export function restartDelayMs(crashes: number, backoff: CrashBackoff): number {
  return crashes <= 1 ? 0 : Math.min(backoff.maxMs, backoff.minMs * 2 ** (crashes - 2));
}

/** The number of ends in a row, including this one. A run of twice the longest wait starts the count again, as in a kubelet. */
export function crashesInARow(before: number, ranMs: number, backoff: CrashBackoff): number {
  return ranMs > 2 * backoff.maxMs ? 1 : before + 1;
}
