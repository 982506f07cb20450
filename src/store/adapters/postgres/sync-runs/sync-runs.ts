import type { Clock } from "../../../../domain/clock.ts";
import type { SyncRunStore } from "../../../sync-run/port.ts";
import type { Database } from "../database.ts";
import { listBusyApplications, listKnownRuns, readRunViews, readSyncQueues } from "./read-runs.ts";
import { recordPublishedRuns, recordRunReports } from "./record-reports.ts";
import { cancelRuns, forgetRuns, giveUpRuns, recordRuns } from "./record-runs.ts";

export function createSyncRunStore(database: Database, clock: Clock): SyncRunStore {
  return {
    record: (intents, signal) => recordRuns(database, intents, signal),
    cancel: (uids, signal) => cancelRuns(database, clock, uids, signal),
    giveUp: (entries, signal) => giveUpRuns(database, clock, entries, signal),
    forget: (uids, signal) => forgetRuns(database, uids, signal),
    readViews: (uids, signal) => readRunViews(database, uids, signal),
    recordPublished: (entries, signal) => recordPublishedRuns(database, entries, signal),
    listKnown: (apiCluster, signal) => listKnownRuns(database, apiCluster, signal),
    readQueues: (ids, signal) => readSyncQueues(database, ids, signal),
    listBusy: (instanceId, limit, signal) => listBusyApplications(database, instanceId, limit, signal),
    recordReports: (reports, signal) => recordRunReports(database, reports, signal),
  };
}
