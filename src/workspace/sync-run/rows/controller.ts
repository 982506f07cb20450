import { createBatcher } from "../../../runtime/batcher.ts";
import type { RunIntent, RunPublication, RunView, SyncRunStore } from "../../../store/sync-run/port.ts";

/** Single reads and writes of runs' rows, which travel in common. */
export interface RunRows {
  record(intent: RunIntent, signal: AbortSignal): Promise<void>;
  readView(uid: string, signal: AbortSignal): Promise<RunView | undefined>;
  recordPublished(entry: RunPublication, signal: AbortSignal): Promise<void>;
}

const BATCH = 100;

export function createRunRows(runs: SyncRunStore): RunRows {
  const intents = createBatcher<RunIntent, undefined>({
    maxSize: BATCH,
    key: ({ uid }) => uid,
    async flush(batch, signal) {
      await runs.record(batch, signal);
      return batch.map(() => undefined);
    },
  });
  const views = createBatcher<string, RunView | undefined>({
    maxSize: BATCH,
    key: (uid) => uid,
    async flush(uids, signal) {
      const found = new Map((await runs.readViews(uids, signal)).map((view) => [view.run.uid, view]));
      return uids.map((uid) => found.get(uid));
    },
  });
  const publications = createBatcher<RunPublication, undefined>({
    maxSize: BATCH,
    key: ({ uid }) => uid,
    async flush(batch, signal) {
      await runs.recordPublished(batch, signal);
      return batch.map(() => undefined);
    },
  });
  return { record: intents.add, readView: views.add, recordPublished: publications.add };
}
