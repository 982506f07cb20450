import type { Millis } from "../../domain/clock.ts";
import type { Rollout, SyncTally, WaveInstance } from "../../domain/rollout.ts";

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

/** What a process remembers of the syncs it has counted, from one look to the next. */
export interface Tallies {
  /** What to go on from: the row's where another process counted. `undefined`: the instance does not run the release yet, so none count. */
  before(rollout: Pick<Rollout, "id">, one: WaveInstance): SyncTally | undefined;
  keep(rollout: Pick<Rollout, "id">, one: WaveInstance, tally: SyncTally): void;
}

export function createTallies(): Tallies {
  const kept = new Map<string, SyncTally>();
  const keyOf = ({ id }: Pick<Rollout, "id">, one: WaveInstance): string => `${id} ${one.id}`;
  return {
    before: (rollout, one) => (one.readyAt === undefined ? undefined : (kept.get(keyOf(rollout, one)) ?? one.syncs ?? NO_SYNCS)),
    keep(rollout, one, tally) {
      // One rollout is live at a time: what was kept of others is of no use to anybody.
      for (const key of kept.keys()) if (!key.startsWith(`${rollout.id} `)) kept.delete(key);
      if (one.readyAt !== undefined) kept.set(keyOf(rollout, one), tally);
    },
  };
}
