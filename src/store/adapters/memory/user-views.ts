import { contentHash } from "../../../domain/hash.ts";
import type { ApplicationId } from "../../../domain/ids.ts";
import type { Workspace } from "../../../domain/workspace.ts";
import type { IntentStore, KnownApplication, KnownWorkspace, Publication, UserView } from "../../intent/port.ts";
import { unitRow, workspaceOfTables } from "./applications.ts";
import { environmentNamed } from "./environments.ts";
import { accessOfApplication } from "./repository-access.ts";
import type { MemoryApplicationRow, Tables, Transact } from "./tables.ts";

type Views = Pick<
  IntentStore,
  | "readByUids"
  | "readByIds"
  | "listKnown"
  | "listOverdue"
  | "listUnpublished"
  | "recordPublished"
  | "listKnownWorkspaces"
  | "readKnownWorkspaces"
  | "listClasses"
>;

/** What the workspace controllers read, and their notes of what users have been shown. */
export function createUserViews(transact: Transact): Views {
  return {
    readByUids: (uids, signal) =>
      transact(signal, ({ tables }) => uids.flatMap((uid) => tables.applications.where("uid", uid)).map((row) => view(tables, row))),
    readByIds: (ids, signal) =>
      transact(signal, ({ tables }) => ids.flatMap((id) => tables.applications.get(id) ?? []).map((row) => view(tables, row))),
    listKnown: (apiCluster, { limit, after }, signal) =>
      transact(signal, ({ tables }) =>
        rowsOf(tables, apiCluster)
          .filter(({ application }) => application.id > after)
          .slice(0, limit)
          .map((row) => known(tables, row)),
      ),
    listOverdue: ({ apiCluster, before, limit, after }, signal) =>
      transact(signal, ({ tables }) => {
        const overdue = rowsOf(tables, apiCluster)
          .map(({ application }) => ({ application, workspace: workspaceOfTables(tables, application.workspaceId) }))
          .filter(({ application, workspace }) => workspace.state === "deleting" && application.deletion === "cascade")
          .filter(({ application: { deletedAt, uid } }) => deletedAt !== undefined && deletedAt < before && uid > after)
          .toSorted((a, b) => (a.application.uid < b.application.uid ? -1 : 1));
        return overdue.slice(0, limit).map(({ application: { uid, name, spec }, workspace }) => ({
          uid,
          name,
          workspaceId: workspace.id,
          namespace: workspace.namespace,
          environment: spec.destination.environment,
        }));
      }),
    listUnpublished: (apiCluster, { limit, after }, signal) =>
      transact(signal, ({ tables }) => {
        const unpublished = rowsOf(tables, apiCluster).filter((row) => row.viewRevision > row.publishedRevision);
        const ids = unpublished.map(({ application }) => application.id);
        return ids.filter((id) => id > after).slice(0, limit);
      }),
    recordPublished: (entries, signal) => transact(signal, ({ tables }) => entries.forEach((entry) => recordPublished(tables, entry))),
    listKnownWorkspaces: (apiCluster, { limit, after }, signal) =>
      transact(signal, ({ tables }) =>
        workspacesOf(tables, apiCluster)
          .filter(({ id }) => id > after)
          .slice(0, limit)
          .map((workspace) => knownWorkspace(tables, workspace)),
      ),
    readKnownWorkspaces: (apiCluster, namespaces, signal) =>
      transact(signal, ({ tables }) =>
        workspacesOf(tables, apiCluster)
          .filter(({ namespace }) => namespaces.includes(namespace))
          .map((workspace) => knownWorkspace(tables, workspace)),
      ),
    listClasses: (apiCluster, signal) =>
      transact(signal, ({ tables }) =>
        workspacesOf(tables, apiCluster).map(({ id, namespace, namespaceUid }) => {
          const classes = tables.units.where("workspace", id).flatMap(({ unit }) => [unit.class, unit.wantedClass ?? unit.class]);
          const assigned = tables.directives.get(id)?.assigned?.class;
          return { namespace, namespaceUid, classes: [...new Set(classes)].sort(), ...(assigned === undefined ? {} : { assigned }) };
        }),
      ),
  };
}

function knownWorkspace(tables: Tables, { id, namespace, namespaceUid, state, groups }: Workspace): KnownWorkspace {
  const units = tables.units.where("workspace", id).map(({ unit }) => unit.wantedClass ?? unit.class);
  const assigned = tables.directives.get(id)?.assigned?.class;
  const grouped = groups === undefined ? {} : { groups };
  const known = { workspaceId: id, namespace, namespaceUid, state, classes: [...new Set(units)].sort(), ...grouped };
  const labels = tables.usageLabels.get(id)?.labels;
  return { ...known, ...(assigned === undefined ? {} : { assigned }), ...(labels === undefined ? {} : { labels }) };
}

/** Sorted by id. */
function workspacesOf(tables: Tables, apiCluster: string): readonly Workspace[] {
  const own = [...tables.workspaces.values()].filter((workspace) => workspace.apiCluster === apiCluster);
  return own.sort((a, b) => (a.id < b.id ? -1 : 1));
}

function rowsOf(tables: Tables, apiCluster: string): readonly MemoryApplicationRow[] {
  const own = [...tables.applications.values()].filter(
    ({ application }) => workspaceOfTables(tables, application.workspaceId).apiCluster === apiCluster,
  );
  return own.sort((a, b) => (a.application.id < b.application.id ? -1 : 1));
}

function view(tables: Tables, { application, status, blockage, publishedHash, viewRevision }: MemoryApplicationRow): UserView {
  const { unit, unplaceable } = unitRow(tables, application.unitId);
  const { owner, epoch, phase } = unit;
  const workspace = workspaceOfTables(tables, application.workspaceId);
  return {
    application,
    workspace,
    unit: { owner, epoch, phase },
    isUnplaceable: unplaceable !== undefined,
    environment: environmentNamed(tables, application.workspaceId, application.spec.destination.environment),
    status,
    access: accessOfApplication(tables, application),
    blockage,
    trouble: tables.operations
      .where("subject", application.id)
      .find(({ operation, isTrouble }) => operation.state !== "Completed" && isTrouble)?.operation.message,
    publishedHash,
    viewRevision,
  };
}

function known(tables: Tables, { application }: MemoryApplicationRow): KnownApplication {
  const { id, uid, name, workspaceId, deletedAt, generation, spec } = application;
  const { namespace, state } = workspaceOfTables(tables, workspaceId);
  const refresh = spec.refresh === undefined ? {} : { refresh: spec.refresh };
  const hash = deletedAt === undefined && state === "active" ? { specHash: contentHash(spec) } : {};
  return { applicationId: id, uid, namespace, name, deletedAt, generation, ...refresh, ...hash };
}

function recordPublished(tables: Tables, { applicationId, hash, viewRevision }: Publication): void {
  const row = tables.applications.get(applicationId as ApplicationId);
  if (row === undefined) return;
  const publishedRevision = Math.max(row.publishedRevision, viewRevision ?? row.viewRevision);
  tables.applications.put(applicationId, { ...row, publishedHash: hash, publishedRevision });
}
