import type { Millis } from "../../domain/clock.ts";
import type { SyncTally } from "../../domain/rollout.ts";

/** A sync of which is known how it went. Argo CD tells when it began, in whole seconds, and by that it is known again. */
export interface DecidedSync {
  readonly application: string;
  readonly startedAt: Millis;
  readonly isFailed: boolean;
}

export const NO_SYNCS: SyncTally = { done: 0, failed: 0 };

/**
 * Adds to a tally what a look saw: of each application its last sync, unless that was counted before. Who did not count what the tally holds
 * leaves out what began no later than the newest of it: rather one too few than one twice.
 */
export function tallySyncs(before: SyncTally, decided: readonly DecidedSync[]): SyncTally {
  const lastOf = new Map(before.lastOf ?? []);
  const countedBy = before.lastOf === undefined ? before.until : before.countedBy;
  let { done, failed, until } = before;
  for (const { application, startedAt, isFailed } of decided) {
    const last = before.lastOf?.get(application) ?? countedBy;
    lastOf.set(application, startedAt);
    if (last !== undefined && startedAt <= last) continue;
    done += 1;
    failed += Number(isFailed);
    if (until === undefined || startedAt > until) until = startedAt;
  }
  return { done, failed, lastOf, ...(until === undefined ? {} : { until }), ...(countedBy === undefined ? {} : { countedBy }) };
}
