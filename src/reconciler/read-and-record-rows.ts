import type { ApplicationId } from "../domain/ids.ts";
import type { ShardObject } from "../domain/shard-object.ts";
import type { RecordedRefresh, RecordedStatus } from "../domain/status.ts";
import type { SyncRun } from "../domain/sync-run.ts";
import { createBatcher } from "../runtime/batcher.ts";
import type { Store } from "../store/port.ts";
import type { DesiredApplication, ProgressNote } from "../store/shard/port.ts";
import type { RunReport } from "../store/sync-run/port.ts";
import type { ApplicationRows } from "./applications/application-rows.ts";

/** Reads and writes of single rows, sent in batches: a burst costs few statements, and one alone waits for nothing. */
export interface Rows {
  readApplication(id: ApplicationId, signal: AbortSignal): Promise<DesiredApplication | undefined>;
  acknowledge(object: ShardObject, signal: AbortSignal): Promise<void>;
  forget(id: ApplicationId, signal: AbortSignal): Promise<void>;
  recordStatus(status: RecordedStatus, signal: AbortSignal): Promise<void>;
  /** Returns whether the status that was refreshed is the recorded one. */
  recordRefresh(refresh: RecordedRefresh, signal: AbortSignal): Promise<boolean>;
  recordProgress(note: ProgressNote, signal: AbortSignal): Promise<void>;
  /** Unfinished runs of an application's syncs, see the store. */
  readQueue(id: ApplicationId, signal: AbortSignal): Promise<readonly SyncRun[]>;
  recordReport(report: RunReport, signal: AbortSignal): Promise<void>;
}

/** Rows of applications that the next runs of their keys need not read again. */
export type KnownApplications = ApplicationRows<DesiredApplication>;

const BATCH_SIZE = 500;

export function createRows(store: Pick<Store, "shards" | "statuses" | "syncRuns">): Rows {
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
  const refreshes = createBatcher<RecordedRefresh, boolean>({
    maxSize: BATCH_SIZE,
    key: (refresh) => refresh.applicationId,
    async flush(batch, signal) {
      const taken = new Set(await store.statuses.recordRefreshes(batch, signal));
      return batch.map(({ applicationId }) => taken.has(applicationId));
    },
  });
  const notes = createBatcher<ProgressNote, void>({
    maxSize: BATCH_SIZE,
    key: (note) => note.applicationId,
    flush: async (batch, signal) => nothings(batch, await store.shards.recordProgress(batch, signal)),
  });
  const queues = createBatcher<ApplicationId, readonly SyncRun[]>({
    maxSize: BATCH_SIZE,
    key: (id) => id,
    async flush(ids, signal) {
      const found = Map.groupBy(await store.syncRuns.readQueues(ids, signal), (run) => run.applicationId);
      return ids.map((id) => found.get(id) ?? []);
    },
  });
  const reports = createBatcher<RunReport, void>({
    maxSize: BATCH_SIZE,
    key: ({ uid }) => uid,
    flush: async (batch, signal) => nothings(batch, await store.syncRuns.recordReports(batch, signal)),
  });
  return {
    recordProgress: (note, signal) => notes.add(note, signal),
    readQueue: queues.add,
    recordReport: reports.add,
    readApplication: reads.add,
    acknowledge: acknowledgements.add,
    forget: ends.add,
    recordStatus: statuses.add,
    recordRefresh: refreshes.add,
  };
}

function nothings(batch: readonly unknown[], _answer: unknown): readonly undefined[] {
  return batch.map(() => undefined);
}
