import type { Millis } from "../../domain/clock.ts";
import type { Rollout, SyncTally, WaveInstance } from "../../domain/rollout.ts";

/** A sync whose outcome is known. It is identified by its application and by when it began, in whole seconds. */
export interface DecidedSync {
  readonly application: string;
  readonly startedAt: Millis;
  readonly isFailed: boolean;
}

export const NO_SYNCS: SyncTally = { done: 0, failed: 0 };

/**
 * Adds the syncs of an observation to a tally: of each application its last sync, unless it was counted before. A
 * process that goes on with another's tally leaves out syncs that began no later than the newest counted one: it may
 * miss a sync, but counts none twice.
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

/** The syncs that a process has counted, kept from one observation to the next. */
export interface Tallies {
  /**
   * The tally to continue: this process's own, else the row's. `undefined`: the instance does not run the release
   * yet, so no sync counts.
   */
  before(rollout: Pick<Rollout, "id">, one: WaveInstance): SyncTally | undefined;
  keep(rollout: Pick<Rollout, "id">, one: WaveInstance, tally: SyncTally): void;
}

export function createTallies(): Tallies {
  const kept = new Map<string, SyncTally>();
  const keyOf = ({ id }: Pick<Rollout, "id">, one: WaveInstance): string => `${id} ${one.id}`;
  return {
    before: (rollout, one) => (one.readyAt === undefined ? undefined : (kept.get(keyOf(rollout, one)) ?? one.syncs ?? NO_SYNCS)),
    keep(rollout, one, tally) {
      // Only one rollout is live at a time: tallies of others are of no use any more.
      for (const key of kept.keys()) if (!key.startsWith(`${rollout.id} `)) kept.delete(key);
      if (one.readyAt !== undefined) kept.set(keyOf(rollout, one), tally);
    },
  };
}
