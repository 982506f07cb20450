import { DefectError } from "../../../domain/errors.ts";
import type { UnitId, WorkspaceId } from "../../../domain/ids.ts";
import { isFinished } from "../../../domain/sync-run.ts";
import type { Application, Workspace } from "../../../domain/workspace.ts";
import { LOAD_PER_APPLICATION } from "../../placement/planning-load.ts";
import { completeOperations } from "./operations-log.ts";
import type { MemoryApplicationRow, MemoryUnitRow, Tables, Transaction } from "./tables.ts";

export function unitRow(tables: Tables, id: UnitId): MemoryUnitRow {
  return found(tables.units.get(id), "unit", id);
}

export function workspaceOfTables(tables: Tables, id: WorkspaceId): Workspace {
  return found(tables.workspaces.get(id), "workspace", id);
}

function found<Row>(row: Row | undefined, what: string, id: string): Row {
  if (row === undefined)
    throw new DefectError(`following a reference to a ${what} that is not there`, { code: "store.reference", context: { what, id } });
  return row;
}

export const applicationsOf = (tables: Tables, unitId: UnitId): readonly MemoryApplicationRow[] =>
  tables.applications.where("unit", unitId);

/** Repositories of the unit's applications, wanted or still being deleted; sorted, without duplicates. */
export function repoUrlsOf(tables: Tables, unitId: UnitId): readonly string[] {
  return repoUrls(applicationsOf(tables, unitId));
}

/** The same of those that go to environments. */
export function environmentRepoUrlsOf(tables: Tables, unitId: UnitId): readonly string[] {
  return repoUrls(applicationsOf(tables, unitId).filter(({ application }) => application.spec.destination.environment !== undefined));
}

function repoUrls(rows: readonly MemoryApplicationRow[]): readonly string[] {
  return [...new Set(rows.map(({ application }) => application.spec.source.repoUrl))].sort();
}

export function putUnit(tables: Tables, row: MemoryUnitRow): void {
  tables.units.put(row.unit.id, row);
}

/** Removes a unit without applications, and what is kept in mind of those it had. */
export function dropUnit(tables: Tables, id: UnitId): void {
  for (const ended of tables.endedApplications.where("unit", id)) tables.endedApplications.drop(ended.id);
  for (const move of [...tables.moves.values()]) if (move.unitId === id) tables.moves.delete(move.id);
  tables.units.drop(id);
}

/** What a unit's objects are made from: a change of it raises the unit. */
function surroundingsOf(tables: Tables, unitId: UnitId): string {
  const environments = applicationsOf(tables, unitId).flatMap(({ application: { id, spec } }) =>
    spec.destination.environment === undefined ? [] : [`${id} ${spec.destination.environment} ${spec.source.repoUrl}`],
  );
  return [...repoUrlsOf(tables, unitId), ...environments].join("\n");
}

/**
 * Runs `work` and raises the desired revision of each of the units whose set of repositories, or use of environments, it
 * changed, once; returns those units. Their load follows the number of their applications.
 */
export function withUnits(transaction: Transaction, unitIds: Iterable<UnitId>, work: () => void): ReadonlySet<UnitId> {
  const { tables, notify } = transaction;
  const before = new Map([...new Set(unitIds)].map((id) => [id, surroundingsOf(tables, id)]));
  work();
  const raised = new Set<UnitId>();
  for (const [id, surroundings] of before) {
    const row = unitRow(tables, id);
    const { unit } = row;
    const isRaised = surroundingsOf(tables, id) !== surroundings;
    const load = { ...unit.load, applications: applicationsOf(tables, id).length * LOAD_PER_APPLICATION };
    putUnit(tables, { ...row, unit: { ...unit, load, desiredRevision: unit.desiredRevision + (isRaised ? 1 : 0) } });
    if (!isRaised) continue;
    raised.add(id);
    notify("unit", id);
  }
  return raised;
}

/** Removes rows that are marked as deleted, with what hangs on them. */
export function dropApplications(transaction: Transaction, applications: readonly Application[]): void {
  const { tables, now, notify } = transaction;
  const doomed = applications.filter(({ deletedAt }) => deletedAt !== undefined);
  withUnits(
    transaction,
    doomed.map(({ unitId }) => unitId),
    () => {
      for (const { id, uid, argoName, unitId, deletion } of doomed) {
        tables.applications.drop(id);
        if (deletion === "cascade") tables.endedApplications.put(id, { id, uid, argoName, unitId, endedAt: now() });
        for (const object of tables.objects.where("subject", id)) tables.objects.drop(objectKey(object));
        completeOperations(transaction, id, { kind: "delete-application" });
        notify("status", id);
        for (const { run } of tables.syncRuns.where("application", id)) if (!isFinished(run.progress.phase)) notify("sync-run", run.uid);
      }
    },
  );
}

export function objectKey({
  instanceId,
  kind,
  subject,
}: {
  readonly instanceId: string;
  readonly kind: string;
  readonly subject: string;
}): string {
  return [subject, kind, instanceId].join("|");
}

/** Removes a workspace without applications: its units, what is recorded of their objects, its operations and credentials. */
export function dropWorkspace(tables: Tables, id: WorkspaceId): void {
  for (const { unit } of tables.units.where("workspace", id)) {
    for (const object of tables.objects.where("subject", unit.id)) tables.objects.drop(objectKey(object));
    dropUnit(tables, unit.id);
  }
  for (const { operation } of [...tables.operations.values()]) if (operation.workspaceId === id) tables.operations.drop(operation.id);
  for (const credential of tables.repositoryCredentials.where("workspace", id)) tables.repositoryCredentials.drop(credential.id);
  for (const [credentialId, { owner }] of [...tables.credentials]) if (owner === id) tables.credentials.delete(credentialId);
  for (const environment of tables.environments.where("workspace", id)) {
    for (const object of tables.objects.where("subject", environment.id)) tables.objects.drop(objectKey(object));
    tables.environments.drop(environment.id);
  }
  dropAccess(tables, id, () => true);
  tables.directives.delete(id);
  tables.splits.delete(id);
  tables.workspaces.drop(id);
}

/** Forgets what is known of a workspace's access to repositories, as far as `isDoomed`. */
export function dropAccess({ repositoryAccess }: Tables, id: WorkspaceId, isDoomed: (url: string) => boolean): void {
  const own = [...repositoryAccess.keys()].filter((key) => key.startsWith(`${id} `));
  for (const key of own) if (isDoomed(key.slice(id.length + 1))) repositoryAccess.delete(key);
}
