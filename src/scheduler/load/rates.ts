import type { InstanceSignals } from "./attribute-load.ts";
import type { PageSums } from "./metrics-page.ts";

export interface PageAt {
  readonly sums: PageSums;
  /** On a clock that only grows, ms. */
  readonly atMs: number;
}

/** Two pages that are nearer to each other say more about chance than about load; ones this far apart lie about the present. */
const NEAREST_MS = 10_000;
const FARTHEST_MS = 1_800_000;

/**
 * What two pages of one process say about the time between them; `undefined` where they say nothing: another process by now, too
 * near or too far apart, a counter that went back. Git requests and the CPU of repo-servers are on other pages and not in this.
 */
export function ratesOf(before: PageAt | undefined, after: PageAt): Omit<InstanceSignals, "gitPerMinute"> | undefined {
  const elapsedMs = after.atMs - (before?.atMs ?? Number.NaN);
  if (before === undefined || !(elapsedMs >= NEAREST_MS && elapsedMs <= FARTHEST_MS)) return undefined;
  if (before.sums.startedAt !== after.sums.startedAt || after.sums.startedAt === undefined) return undefined;
  const cpuSeconds = (after.sums.cpuSeconds ?? Number.NaN) - (before.sums.cpuSeconds ?? Number.NaN);
  if (!(cpuSeconds >= 0)) return undefined;
  const minutes = elapsedMs / 60_000;
  const requests = [...after.sums.requests].map(([project, count]) => [
    project,
    (count - (before.sums.requests.get(project) ?? 0)) / minutes,
  ]);
  if (requests.some(([, rate]) => !((rate as number) >= 0))) return undefined;
  return {
    milliCpu: Math.round((cpuSeconds * 1_000_000) / elapsedMs),
    requestsPerMinute: Object.fromEntries(requests) as Readonly<Record<string, number>>,
  };
}
