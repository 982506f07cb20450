import type { EnvironmentFinding } from "./finding.ts";

/** What works is asked again this often; what does not this soon at first, and never later than what works; in ms. */
const FIRST_MS = { ready: 5 * 60_000, moving: 30_000, stuck: 60_000, installing: 1_000, leaving: 2_000 } as const;
const LATEST_MS = 5 * 60_000;

export type AwaitedVisit = EnvironmentFinding["kind"] | "installing" | "leaving";

/** When a cluster is visited again that said `awaited` for the `times`-th time in a row: twice as late each time. In ms. */
export function nextVisitMs(awaited: AwaitedVisit, times: number): number {
  return Math.min(LATEST_MS, FIRST_MS[awaited] * 2 ** Math.min(Math.max(times, 1) - 1, 20));
}

/** Counts what each environment's cluster said in a row. Lost on a restart, when all of them are probed anyway. */
export function createVisitPace() {
  const last = new Map<string, { readonly awaited: AwaitedVisit; readonly times: number }>();
  return {
    /** Notes what it said; returns when to visit it again, in ms. */
    next(id: string, awaited: AwaitedVisit): number {
      const before = last.get(id);
      const times = before?.awaited === awaited ? before.times + 1 : 1;
      last.set(id, { awaited, times });
      return nextVisitMs(awaited, times);
    },
    forget: (id: string): void => void last.delete(id),
  };
}
