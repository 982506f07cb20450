import type { ApplicationId } from "../../domain/ids.ts";
import type { ShardObject } from "../../domain/shard-object.ts";
import type { RecordedStatus } from "../../domain/status.ts";
import { createBatcher } from "../../runtime/batcher.ts";
import type { Store } from "../../store/port.ts";
import type { DesiredApplication } from "../../store/shard/port.ts";

/** Single reads and writes of rows, which travel in common: a burst costs few statements, one alone waits for nothing. */
export interface Rows {
  readApplication(id: ApplicationId, signal: AbortSignal): Promise<DesiredApplication | undefined>;
  acknowledge(object: ShardObject, signal: AbortSignal): Promise<void>;
  forget(id: ApplicationId, signal: AbortSignal): Promise<void>;
  recordStatus(status: RecordedStatus, signal: AbortSignal): Promise<void>;
}

const BATCH_SIZE = 500;

export function createRows(store: Pick<Store, "shards" | "statuses">): Rows {
  const reads = createBatcher<ApplicationId, DesiredApplication | undefined>({
    maxSize: BATCH_SIZE,
    key: (id) => id,
    async flush(ids, signal) {
      const found = new Map((await store.shards.readApplications(ids, signal)).map((row) => [row.application.id, row]));
      return ids.map((id) => found.get(id));
    },
  });
  const acknowledgements = createBatcher<ShardObject, void>({
    maxSize: BATCH_SIZE,
    key: (object) => `${object.instanceId}|${object.kind}|${object.subject}`,
    // How many were taken does not matter: whoever is late finds so when the rows are read again.
    flush: async (objects, signal) => nothings(objects, await store.shards.acknowledge(objects, signal)),
  });
  const ends = createBatcher<ApplicationId, void>({
    maxSize: BATCH_SIZE,
    key: (id) => id,
    flush: async (ids, signal) => nothings(ids, await store.shards.forgetApplications(ids, signal)),
  });
  const statuses = createBatcher<RecordedStatus, void>({
    maxSize: BATCH_SIZE,
    key: (status) => status.applicationId,
    flush: async (batch, signal) => nothings(batch, await store.statuses.recordStatuses(batch, signal)),
  });
  return {
    readApplication: reads.add,
    acknowledge: acknowledgements.add,
    forget: ends.add,
    recordStatus: statuses.add,
  };
}

function nothings(batch: readonly unknown[], _answer: unknown): readonly undefined[] {
  return batch.map(() => undefined);
}
