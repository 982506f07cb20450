import type { ApplicationId, InstanceId } from "../../../domain/ids.ts";
import { isFinished, NOT_BEGUN, type SyncRun } from "../../../domain/sync-run.ts";
import type { Application, PlacementUnit } from "../../../domain/workspace.ts";
import type { KnownRun, RunIntent, RunReport, RunView, SyncRunStore } from "../../sync-run/port.ts";
import { QUEUE_LIMIT } from "../../sync-run/queue-limit.ts";
import { unitRow } from "./applications.ts";
import type { SyncRunRow, Tables, Transact, Transaction } from "./tables.ts";

export function createSyncRunStore(transact: Transact): SyncRunStore {
  return {
    record: (intents, signal) => transact(signal, (transaction) => intents.forEach((intent) => record(transaction, intent))),
    cancel: (uids, signal) => transact(signal, (transaction) => uids.forEach((uid) => cancel(transaction, uid))),
    giveUp: (entries, signal) =>
      transact(signal, (transaction) => entries.forEach(({ uid, message }) => endUnplaced(transaction, uid, { phase: "Failed", message }))),
    forget: (uids, signal) =>
      transact(signal, ({ tables }) => {
        for (const uid of uids) if (isFinished(tables.syncRuns.get(uid)?.run.progress.phase ?? "Pending")) tables.syncRuns.drop(uid);
      }),
    readViews: (uids, signal) => transact(signal, ({ tables }) => uids.flatMap((uid) => view(tables, uid) ?? [])),
    recordPublished: (entries, signal) =>
      transact(signal, ({ tables }) => {
        for (const { uid, hash, viewRevision } of entries) {
          const row = tables.syncRuns.get(uid);
          if (row === undefined) continue;
          const publishedRevision = Math.max(row.publishedRevision, viewRevision);
          tables.syncRuns.put(uid, { ...row, publishedHash: hash, publishedRevision });
        }
      }),
    listKnown: (apiCluster, signal) => transact(signal, ({ tables }) => listKnown(tables, apiCluster)),
    readQueues: (ids, signal) => transact(signal, ({ tables }) => ids.flatMap((id) => queueOf(tables, id).slice(0, QUEUE_LIMIT))),
    listBusy: (instanceIds, limit, signal) =>
      transact(signal, ({ tables }) => {
        const isHeld = (owner: InstanceId | undefined): boolean => owner !== undefined && instanceIds.includes(owner);
        const busy = [...tables.syncRuns.values()].filter(
          ({ run }) => !isFinished(run.progress.phase) && isHeld(unitOf(tables, run)?.owner),
        );
        return [...new Set(busy.flatMap(({ run }) => run.applicationId ?? []))].sort().slice(0, limit);
      }),
    recordReports: (reports, signal) => transact(signal, (transaction) => reports.forEach((report) => recordReport(transaction, report))),
  };
}

function applicationOf(tables: Tables, id: ApplicationId | undefined): Application | undefined {
  return id === undefined ? undefined : tables.applications.get(id)?.application;
}

function unitOf(tables: Tables, { applicationId }: SyncRun): PlacementUnit | undefined {
  const application = applicationOf(tables, applicationId);
  return application === undefined ? undefined : unitRow(tables, application.unitId).unit;
}

/** Changes a run that has not ended. */
function change({ tables, notify }: Transaction, row: SyncRunRow, over: Partial<SyncRun>): void {
  const run = { ...row.run, ...over };
  tables.syncRuns.put(run.uid, { ...row, run, viewRevision: row.viewRevision + 1 });
  notify("sync-run", run.uid);
}

function record(transaction: Transaction, { deploymentUid, apiCluster, ...request }: RunIntent): void {
  const { tables, notify, now } = transaction;
  const named = tables.applications.where("uid", deploymentUid ?? "")[0]?.application;
  const applicationId = named?.deletedAt === undefined ? named?.id : undefined;
  const row = tables.syncRuns.get(request.uid);
  if (row === undefined) {
    tables.lastPlace += 1;
    const run: SyncRun = { ...request, recordedAt: now(), applicationId, isCancelled: false, requestedAt: undefined, progress: NOT_BEGUN };
    tables.syncRuns.put(run.uid, { run, apiCluster, place: tables.lastPlace, viewRevision: 1, publishedRevision: 0, publishedHash: "" });
    notify("sync-run", run.uid);
  } else {
    const present = applicationOf(tables, row.run.applicationId);
    const isWaiting = row.run.progress.phase === "Pending" && !row.run.isCancelled;
    const isBound = present !== undefined && present.deletedAt === undefined;
    if (!isWaiting || isBound || applicationId === undefined || applicationId === row.run.applicationId) return;
    change(transaction, row, { applicationId });
  }
  if (applicationId !== undefined) notify("sync-queue", applicationId);
}

function cancel(transaction: Transaction, uid: string): void {
  const row = transaction.tables.syncRuns.get(uid);
  const isPlaced = row !== undefined && unitOf(transaction.tables, row.run)?.owner !== undefined;
  if (row === undefined || isFinished(row.run.progress.phase) || (row.run.isCancelled && isPlaced)) return;
  change(transaction, row, { isCancelled: true });
  endUnplaced(transaction, uid, { phase: "Terminated", message: row.run.progress.message });
  if (row.run.applicationId !== undefined) transaction.notify("sync-queue", row.run.applicationId);
}

/** Ends a run about which no instance can say anything. */
function endUnplaced(transaction: Transaction, uid: string, end: Pick<SyncRun["progress"], "phase" | "message">): void {
  const { tables, now } = transaction;
  const row = tables.syncRuns.get(uid);
  if (row === undefined || isFinished(row.run.progress.phase) || unitOf(tables, row.run)?.owner !== undefined) return;
  change(transaction, row, { progress: { ...row.run.progress, ...end, finishedAt: now() } });
}

function recordReport(transaction: Transaction, { uid, instanceId, epoch, requestedAt, progress }: RunReport): void {
  const row = transaction.tables.syncRuns.get(uid);
  if (row === undefined || isFinished(row.run.progress.phase)) return;
  const unit = unitOf(transaction.tables, row.run);
  if (unit?.owner !== instanceId || unit.epoch !== epoch) return;
  change(transaction, row, { requestedAt, progress });
  if (progress.finishedAt !== undefined && row.run.applicationId !== undefined) transaction.notify("sync-queue", row.run.applicationId);
}

function view(tables: Tables, uid: string): RunView | undefined {
  const row = tables.syncRuns.get(uid);
  if (row === undefined) return undefined;
  const { run, publishedHash, viewRevision } = row;
  const ahead = unfinishedOf(tables, run.applicationId).filter((other) => byCreation(other, row) < 0).length;
  const application = applicationOf(tables, run.applicationId);
  return { run, application, isPlaced: unitOf(tables, run)?.owner !== undefined, ahead, publishedHash, viewRevision };
}

function unfinishedOf(tables: Tables, id: ApplicationId | undefined): readonly SyncRunRow[] {
  return id === undefined ? [] : tables.syncRuns.where("application", id).filter(({ run }) => !isFinished(run.progress.phase));
}

function byCreation(a: SyncRunRow, b: SyncRunRow): number {
  return a.run.createdAt - b.run.createdAt || a.place - b.place;
}

function queueOf(tables: Tables, id: ApplicationId): readonly SyncRun[] {
  const rank = ({ run }: SyncRunRow): number => (run.progress.phase === "Running" ? 0 : 2) + (run.isCancelled ? 0 : 1);
  return unfinishedOf(tables, id)
    .toSorted((a, b) => rank(a) - rank(b) || byCreation(a, b))
    .map(({ run }) => run);
}

function listKnown(tables: Tables, apiCluster: string): readonly KnownRun[] {
  return [...tables.syncRuns.values()]
    .filter((row) => row.apiCluster === apiCluster)
    .map(({ run: { uid, namespace, name, progress }, publishedRevision, viewRevision }) => ({
      uid,
      namespace,
      name,
      phase: progress.phase,
      finishedAt: progress.finishedAt,
      isPublished: publishedRevision >= viewRevision,
    }))
    .sort((a, b) => (a.uid < b.uid ? -1 : 1));
}
