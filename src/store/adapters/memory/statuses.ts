import type { RecordedRefresh, RecordedStatus } from "../../../domain/status.ts";
import type { StatusStore } from "../../port.ts";
import { unitRow } from "./applications.ts";
import type { Transact, Transaction } from "./tables.ts";

export function createStatusStore(transact: Transact): StatusStore {
  return {
    recordStatuses: (statuses, signal) =>
      transact(signal, (transaction) => statuses.filter((status) => record(transaction, status)).map((status) => status.applicationId)),
    recordRefreshes: (refreshes, signal) =>
      transact(signal, (transaction) =>
        refreshes.filter((refresh) => refreshed(transaction, refresh)).map(({ applicationId }) => applicationId),
      ),
  };
}

/** Whether the status was taken and says something new. */
function record({ tables, notify }: Transaction, status: RecordedStatus): boolean {
  const row = tables.applications.get(status.applicationId);
  if (row === undefined) return false;
  const { unit } = unitRow(tables, row.application.unitId);
  if (unit.owner !== status.instanceId || unit.epoch !== status.epoch) return false;
  if (isOlder(status, row.status)) return false;
  const isChange = row.status?.hash !== status.hash;
  // What has the same hash says the same: of a mere refresh only its time and version are new.
  const recorded =
    row.status === undefined || isChange
      ? status
      : { ...row.status, instanceId: status.instanceId, epoch: status.epoch, reconciledAt: status.reconciledAt, version: status.version };
  tables.applications.put(status.applicationId, { ...row, status: recorded, viewRevision: row.viewRevision + (isChange ? 1 : 0) });
  if (isChange) notify("status", status.applicationId);
  return isChange;
}

/** Whether the very status that was refreshed is recorded, and nothing later. */
function refreshed({ tables }: Transaction, refresh: RecordedRefresh): boolean {
  const { applicationId, instanceId, epoch, hash, reconciledAt, version } = refresh;
  const row = tables.applications.get(applicationId);
  if (row?.status === undefined) return false;
  const { status } = row;
  const { unit } = unitRow(tables, row.application.unitId);
  if (unit.owner !== instanceId || unit.epoch !== epoch || status.instanceId !== instanceId || status.epoch !== epoch) return false;
  if (status.hash !== hash) return false;
  if (reconciledAt !== undefined && status.reconciledAt !== undefined && reconciledAt < status.reconciledAt) return false;
  tables.applications.put(applicationId, { ...row, status: { ...status, reconciledAt, version } });
  return true;
}

/** Whether the engine has reported something later under this epoch already: a delayed report must not replace a newer one. */
function isOlder(status: RecordedStatus, before: RecordedStatus | undefined): boolean {
  if (before?.epoch !== status.epoch || before.reconciledAt === undefined || status.reconciledAt === undefined) return false;
  if (status.reconciledAt !== before.reconciledAt) return status.reconciledAt < before.reconciledAt;
  return status.version !== undefined && before.version !== undefined && status.version < before.version;
}
