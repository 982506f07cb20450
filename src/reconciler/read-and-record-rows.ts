import type { ApplicationId } from "../domain/ids.ts";
import type { Partition } from "../domain/partition.ts";
import type { ShardObject } from "../domain/shard-object.ts";
import type { RecordedStatus } from "../domain/status.ts";
import type { SyncRun } from "../domain/sync-run.ts";
import { createBatcher } from "../runtime/batcher.ts";
import type { WorkResult } from "../runtime/keyed-queue.ts";
import type { Destination } from "../shard/application-placement.ts";
import { targetOf } from "../shard/render-application.ts";
import type { Store } from "../store/port.ts";
import type { DesiredApplication, ProgressNote } from "../store/shard/port.ts";
import type { RunReport } from "../store/sync-run/port.ts";
import type { ApplicationRows } from "./applications/application-rows.ts";
import type { WaitForPrerequisites } from "./applications/wait-for-prerequisites.ts";
import type { Requests } from "./keys.ts";

/** Reads and writes of single rows, sent in batches: a burst costs few statements, and one alone waits for nothing. */
export interface Rows {
  readApplication(id: ApplicationId, signal: AbortSignal): Promise<DesiredApplication | undefined>;
  acknowledge(object: ShardObject, signal: AbortSignal): Promise<void>;
  forget(id: ApplicationId, signal: AbortSignal): Promise<void>;
  recordStatus(status: RecordedStatus, signal: AbortSignal): Promise<void>;
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
  };
}

function nothings(batch: readonly unknown[], _answer: unknown): readonly undefined[] {
  return batch.map(() => undefined);
}

export interface IntakeDeps {
  readonly rows: Pick<Rows, "readApplication">;
  readonly applicationRows: Pick<KnownApplications, "keep">;
  readonly partition: Pick<Partition, "isMine">;
  readonly destination: Destination;
  readonly waitForPrerequisites: WaitForPrerequisites;
  readonly requests: Pick<Requests, "requestApplication">;
  readonly signal: AbortSignal;
}

/** Takes in applications of which only the id is known, and asks for each. */
export type Intake = (ids: readonly ApplicationId[]) => void;

/**
 * Reads the rows in common before their keys take turns, so that a burst costs few statements and turns go round by unit. The key of an
 * application whose prerequisites do not stand yet is asked for by the run that makes them, so that it runs once.
 */
export function createIntake(deps: IntakeDeps): Intake {
  const { applicationRows, requests, signal } = deps;
  const wait = (row: DesiredApplication): Promise<WorkResult> | undefined => {
    const { unit, application } = row;
    const isOurs = unit.owner !== undefined && unit.phase !== "MOVING" && deps.partition.isMine(unit.owner);
    const hasTarget = targetOf(row, application, { own: deps.destination, environment: row.environment }) !== undefined;
    return isOurs && hasTarget ? deps.waitForPrerequisites(row, signal) : undefined;
  };
  const takeIn = async (id: ApplicationId): Promise<void> => {
    try {
      const row = await deps.rows.readApplication(id, signal);
      const waiting = row === undefined ? undefined : wait(row);
      if (waiting === undefined) {
        if (row !== undefined) applicationRows.keep(row);
        return requests.requestApplication(id, row?.unit.id);
      }
      const { requeueAfterMs } = await waiting;
      if (requeueAfterMs !== undefined) requests.requestApplication(id, row?.unit.id, requeueAfterMs);
    } catch {
      // The key's own run reads again, says what is wrong, and backs off.
      if (!signal.aborted) requests.requestApplication(id);
    }
  };
  return (ids) => ids.forEach((id) => void takeIn(id));
}
