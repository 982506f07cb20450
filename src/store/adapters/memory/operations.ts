import type { Operation } from "../../../domain/operation.ts";
import type { ApplicationSummary, DeployedKind, OperationStore, Page, WorkspaceSummary } from "../../operation/port.ts";
import { KINDS_LISTED } from "../../operation/port.ts";
import { applicationsOf, unitRow, workspaceOfTables } from "./applications.ts";
import type { MemoryApplicationRow, Tables, Transact } from "./tables.ts";

export function createMemoryOperationStore(transact: Transact): OperationStore {
  return {
    listOperations: (filter, page, signal) => transact(signal, ({ tables }) => listOperations(tables, filter, page)),
    listWorkspaces: (filter, page, signal) => transact(signal, ({ tables }) => listWorkspaces(tables, filter, page)),
    listSyncs: (filter, page, signal) => transact(signal, ({ tables }) => listSyncs(tables, filter, page)),
    listDeployedKinds: (signal) => transact(signal, ({ tables }) => listDeployedKinds(tables)),
    listApplications: (filter, page, signal) => transact(signal, ({ tables }) => listApplications(tables, filter, page)),
  };
}

function pageOf<Row>(rows: Iterable<Row>, key: (row: Row) => string, { limit, after }: Page): readonly Row[] {
  return [...rows]
    .filter((row) => key(row) > after)
    .sort((a, b) => (key(a) < key(b) ? -1 : 1))
    .slice(0, limit);
}

function listOperations(
  tables: Tables,
  { state, workspaceId }: Parameters<OperationStore["listOperations"]>[0],
  page: Page,
): readonly Operation[] {
  const operations = [...tables.operations.values()].map(({ operation }) => operation);
  const wanted = operations.filter(
    (one) => (state === undefined || one.state === state) && (workspaceId === undefined || one.workspaceId === workspaceId),
  );
  return pageOf(wanted, (one) => one.id, page);
}

function listWorkspaces(
  tables: Tables,
  { namespace }: Parameters<OperationStore["listWorkspaces"]>[0],
  page: Page,
): readonly WorkspaceSummary[] {
  const wanted = [...tables.workspaces.values()].filter((workspace) => namespace === undefined || workspace.namespace === namespace);
  return pageOf(wanted, (workspace) => workspace.id, page).map((workspace) => {
    const units = tables.units.where("workspace", workspace.id).map(({ unit }) => unit);
    return { workspace, units, applications: units.reduce((sum, unit) => sum + applicationsOf(tables, unit.id).length, 0) };
  });
}

function listApplications(
  tables: Tables,
  { namespace, name }: Parameters<OperationStore["listApplications"]>[0],
  page: Page,
): readonly ApplicationSummary[] {
  const isWanted = ({ application }: MemoryApplicationRow): boolean =>
    (name === undefined || application.name === name) &&
    (namespace === undefined || workspaceOfTables(tables, application.workspaceId).namespace === namespace);
  const wanted = pageOf([...tables.applications.values()].filter(isWanted), ({ application }) => application.id, page);
  return wanted.map((row) => summaryOf(tables, row));
}

const UNFINISHED: readonly unknown[] = ["Running", "Terminating", "Failed", "Error"];

function listSyncs(
  tables: Tables,
  { workspaceId, owner }: Parameters<OperationStore["listSyncs"]>[0],
  page: Page,
): readonly ApplicationSummary[] {
  const isWanted = ({ application, status }: MemoryApplicationRow): boolean =>
    (workspaceId === undefined || application.workspaceId === workspaceId) &&
    (owner === undefined || unitRow(tables, application.unitId).unit.owner === owner) &&
    (UNFINISHED.includes(status?.status.operationState?.["phase"]) ||
      (status?.status.conditions ?? []).some(({ type }) => type === "SyncError"));
  return pageOf([...tables.applications.values()].filter(isWanted), ({ application }) => application.id, page).map((row) =>
    summaryOf(tables, row),
  );
}

function listDeployedKinds(tables: Tables): readonly DeployedKind[] {
  const own = [...tables.applications.values()].flatMap(({ status }) =>
    status === undefined || status.status.comparedTo.environmentId !== undefined ? [] : [status.status],
  );
  const each = own.flatMap(({ resources }) => [
    ...new Set(resources.filter(({ namespace }) => namespace !== "").map(({ group, kind }) => `${group}/${kind}`)),
  ]);
  return [...Map.groupBy(each, (one) => one)]
    .map(([one, { length }]) => ({ group: one.split("/")[0] ?? "", kind: one.split("/")[1] ?? "", applications: length }))
    .sort((a, b) => b.applications - a.applications || (a.group === b.group ? byText(a.kind, b.kind) : byText(a.group, b.group)))
    .slice(0, KINDS_LISTED);
}

function byText(a: string, b: string): number {
  return a < b ? -1 : 1;
}

function summaryOf(tables: Tables, { application, status }: MemoryApplicationRow): ApplicationSummary {
  return {
    application,
    workspace: workspaceOfTables(tables, application.workspaceId),
    unit: unitRow(tables, application.unitId).unit,
    status,
  };
}
