import type { Clock } from "../domain/clock.ts";
import type { Partition } from "../domain/partition.ts";
import type { WorkResult } from "../runtime/keyed-queue.ts";
import { holderOf } from "../shard/parse-application.ts";
import { type LastRecord, statusToRecord, waitForOthersMs } from "../shard/record-status.ts";
import { parseStatusKey } from "./keys.ts";
import type { EngineShard } from "./port.ts";
import type { Rows } from "./read-and-record-rows.ts";

export interface RecordStatusDeps {
  readonly rows: Pick<Rows, "recordStatus">;
  readonly partition: Partition;
  /** Engine clusters that are watched, by name. */
  readonly watched: ReadonlyMap<string, EngineShard>;
  readonly clock: Clock;
}

/** Returns what records what Argo CD says of the Application that a `statusKey` names, if that has changed and the instance is ours. */
export function createRecordStatus({ rows, partition, watched, clock }: RecordStatusDeps) {
  const recorded = new Map<string, LastRecord>();
  return async (key: string, signal: AbortSignal): Promise<WorkResult | void> => {
    const { cluster, at } = parseStatusKey(key);
    const observed = watched.get(cluster)?.applications.get(at);
    const holder = observed === undefined ? undefined : holderOf(observed);
    if (observed === undefined || holder === undefined || !partition.isMine(holder)) return void recorded.delete(key);
    const status = statusToRecord(observed, recorded.get(key));
    if (status === undefined) return undefined;
    const waitMs = waitForOthersMs(status, recorded.get(key), clock.now());
    if (waitMs > 0) return { requeueAfterMs: waitMs };
    await rows.recordStatus(status, signal);
    recorded.set(key, { hash: status.hash, epoch: status.epoch, reconciledAt: status.reconciledAt });
    return undefined;
  };
}
