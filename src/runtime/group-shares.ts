import type { Clock } from "../domain/clock.ts";

export interface GroupShare {
  /** Runs that one group may have at once. */
  readonly alone: number;
  /** The same while another group has had a run within the last second. */
  readonly besideOthers: number;
}

/** Counts runs by group. Both answer whether the group may have one more. */
export interface GroupShares {
  started(group: string): boolean;
  ended(group: string): boolean;
}

/** Groups whose runs come one by one count as side by side for this long after each run: the next should find as much capacity. */
const COMPANY_MS = 1_000;

/**
 * Keeps one group from filling every slot. Turns alone bound how many runs somebody waits for, not how long these take: what
 * runs at once shares an API server and a database, where twelve requests of one make the single one of another slow.
 */
export function createGroupShares(clock: Clock, { alone, besideOthers }: GroupShare): GroupShares {
  const running = new Map<string, number>();
  let last: string | undefined;
  let companyUntilMs = Number.NEGATIVE_INFINITY;

  const isOpen = (group: string): boolean =>
    (running.get(group) ?? 0) < (clock.monotonicMs() < companyUntilMs ? Math.min(alone, besideOthers) : alone);
  return {
    started(group) {
      running.set(group, (running.get(group) ?? 0) + 1);
      if (last !== undefined && last !== group) companyUntilMs = clock.monotonicMs() + COMPANY_MS;
      last = group;
      return isOpen(group);
    },
    ended(group) {
      const count = (running.get(group) ?? 0) - 1;
      if (count > 0) running.set(group, count);
      else running.delete(group);
      return isOpen(group);
    },
  };
}
