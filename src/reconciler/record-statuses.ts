import type { Clock } from "../domain/clock.ts";
import type { Partition, ShareChange } from "../domain/partition.ts";
import type { WorkResult } from "../runtime/keyed-queue.ts";
import { holderOf } from "../shard/parse-application.ts";
import { type LastRecord, statusToRecord, waitForOthersMs } from "../shard/record-status.ts";
import { parseStatusKey } from "./keys.ts";
import type { EngineShard } from "./port.ts";
import type { Rows } from "./read-and-record-rows.ts";

export interface RecordStatusDeps {
  readonly rows: Pick<Rows, "recordStatus">;
  readonly partition: Partition;
  /** The content of instances of ours, by `placeKey`. */
  readonly watched: ReadonlyMap<string, EngineShard>;
  readonly clock: Clock;
}

/** Records what Argo CD says of Applications. */
export interface RecordStatus {
  /** Records what it says of the one that a `statusKey` names, if that has changed and the instance is ours. */
  record(key: string, signal: AbortSignal): Promise<WorkResult | void>;
  /** Forgets what was recorded of instances that are another's now, or were: that process may have recorded something else. */
  forgetOthers(change: Pick<ShareChange, "gained">): void;
}

/** What was recorded last, and the instance it was recorded for. */
interface Recorded {
  readonly holder: string;
  readonly last: LastRecord;
}

export function createRecordStatus({ rows, partition, watched, clock }: RecordStatusDeps): RecordStatus {
  const recorded = new Map<string, Recorded>();
  const record = async (key: string, signal: AbortSignal): Promise<WorkResult | void> => {
    const { place, at } = parseStatusKey(key);
    const observed = watched.get(place)?.applications.get(at);
    const holder = observed === undefined ? undefined : holderOf(observed);
    if (observed === undefined || holder === undefined || !partition.isMine(holder)) return void recorded.delete(key);
    const last = recorded.get(key)?.last;
    const status = statusToRecord(observed, last);
    if (status === undefined) return undefined;
    const waitMs = waitForOthersMs(status, last, clock.now());
    if (waitMs > 0) return { requeueAfterMs: waitMs };
    await rows.recordStatus(status, signal);
    recorded.set(key, { holder, last: { hash: status.hash, epoch: status.epoch, reconciledAt: status.reconciledAt } });
    return undefined;
  };
  return {
    record,
    forgetOthers({ gained }) {
      const holders = new Set([...recorded.values()].map(({ holder }) => holder));
      const kept = new Set([...holders].filter((holder) => partition.isMine(holder) && !gained(holder)));
      for (const [key, { holder }] of recorded) if (!kept.has(holder)) recorded.delete(key);
    },
  };
}
