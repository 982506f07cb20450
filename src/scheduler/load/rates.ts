import type { PageSums } from "./metrics-page.ts";

export interface PageAt {
  readonly sums: PageSums;
  /** On a clock that only grows, ms. */
  readonly atMs: number;
}

/** Two pages that are nearer to each other say more about chance than about load; ones this far apart lie about the present. */
const NEAREST_MS = 10_000;
const FARTHEST_MS = 1_800_000;

/** What the time between two pages shows: without Git requests and the CPU of repo-servers, which are on other pages. */
export interface Rates {
  readonly milliCpu: number;
  /** By project. */
  readonly requestsPerMinute: Readonly<Record<string, number>>;
  /** Thousandths of a second of comparisons a minute, by server. */
  readonly reconcileMs: Readonly<Record<string, number>>;
}

/**
 * What two pages of one process say about the time between them; `undefined` where they say nothing: another process by now, too
 * near or too far apart, a counter that went back.
 */
export function ratesOf(before: PageAt | undefined, after: PageAt): Rates | undefined {
  const elapsedMs = after.atMs - (before?.atMs ?? Number.NaN);
  if (before === undefined || !(elapsedMs >= NEAREST_MS && elapsedMs <= FARTHEST_MS)) return undefined;
  if (before.sums.startedAt !== after.sums.startedAt || after.sums.startedAt === undefined) return undefined;
  const cpuSeconds = (after.sums.cpuSeconds ?? Number.NaN) - (before.sums.cpuSeconds ?? Number.NaN);
  if (!(cpuSeconds >= 0)) return undefined;
  const minutes = elapsedMs / 60_000;
  const requestsPerMinute = perMinute(before.sums.requests, after.sums.requests, minutes);
  const reconcileMs = perMinute(before.sums.reconcileSeconds, after.sums.reconcileSeconds, minutes / 1_000);
  if (requestsPerMinute === undefined || reconcileMs === undefined) return undefined;
  return { milliCpu: Math.round((cpuSeconds * 1_000_000) / elapsedMs), requestsPerMinute, reconcileMs };
}

/** Growth of counters a minute; `undefined` where one went back. */
function perMinute(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
  minutes: number,
): Readonly<Record<string, number>> | undefined {
  const rates = [...after].map(([key, count]) => [key, (count - (before.get(key) ?? 0)) / minutes] as const);
  return rates.every(([, rate]) => rate >= 0) ? Object.fromEntries(rates) : undefined;
}
