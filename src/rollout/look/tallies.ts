import type { Rollout, SyncTally, WaveInstance } from "../../domain/rollout.ts";
import { NO_SYNCS } from "../sight/tally-syncs.ts";

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
