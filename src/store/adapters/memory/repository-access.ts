import type { Millis } from "../../../domain/clock.ts";
import type { UnitId, WorkspaceId } from "../../../domain/ids.ts";
import {
  type AccessChange,
  ASSUMED,
  type RepositoryAccess,
  SPELLINGS_AT_MOST,
  UNPROVEN,
  whatFollows,
} from "../../../domain/repository-access.ts";
import { checkoutGroup, placeOf, spellingOf } from "../../../domain/repository-spelling.ts";
import type { Application } from "../../../domain/workspace.ts";
import type { AccessRecord, ConfirmedAccess, RepositoryAccessStore, WorkspaceRepositories } from "../../repository-access/port.ts";
import type { DesiredApplication, DesiredUnit } from "../../shard/port.ts";
import { dropAccess, putUnit, unitRow } from "./applications.ts";
import type { MemoryApplicationRow, Tables, Transact, Transaction } from "./tables.ts";

export function createMemoryRepositoryAccessStore(transact: Transact): RepositoryAccessStore {
  return {
    readRepositories: (id, signal) => transact(signal, ({ tables }) => readRepositories(tables, id)),
    listDue: ({ apiCluster, before }, { limit, after }, signal) =>
      transact(signal, ({ tables }) => {
        const isDue = (access: RepositoryAccess | undefined): boolean =>
          access === undefined || access.state !== "proven" || access.refusals > 0 || (access.probedAt ?? 0) < before;
        const own = [...tables.workspaces.values()].filter((one) => one.apiCluster === apiCluster && one.state === "active");
        const ids = own.map(({ id }) => id).filter((id) => id > after);
        return ids
          .sort()
          .slice(0, limit)
          .map((id) => ({
            workspaceId: id,
            isDue: readRepositories(tables, id)?.repositories.some(({ access }) => isDue(access)) === true,
          }));
      }),
    readOverdue: (before, signal) =>
      transact(signal, ({ tables }) => {
        const own = [...tables.workspaces.values()].filter(({ state }) => state === "active");
        const probed = own
          .flatMap(({ id }) => [...tables.repositoryAccess].filter(([key]) => key.startsWith(`${id} `)))
          .flatMap(([, { state, probedAt }]) => (state === "proven" && probedAt !== undefined && probedAt < before ? [probedAt] : []));
        return { count: probed.length, ...(probed.length === 0 ? {} : { since: Math.min(...probed) as Millis }) };
      }),
    record: (record, signal) => transact(signal, (transaction) => recordAccess(transaction, record)),
    confirm: (confirmed, signal) => transact(signal, ({ tables }) => confirmed.forEach((one) => confirmAccess(tables, one))),
  };
}

const keyOf = (workspaceId: WorkspaceId, url: string): string => `${workspaceId} ${url}`;

function rowsOf(tables: Tables, workspaceId: WorkspaceId): readonly MemoryApplicationRow[] {
  return tables.units.where("workspace", workspaceId).flatMap(({ unit }) => tables.applications.where("unit", unit.id));
}

function usersOf(tables: Tables, workspaceId: WorkspaceId, url: string): readonly MemoryApplicationRow[] {
  return rowsOf(tables, workspaceId).filter(({ application }) => application.spec.source.repoUrl === url);
}

function readRepositories(tables: Tables, workspaceId: WorkspaceId): WorkspaceRepositories | undefined {
  const workspace = tables.workspaces.get(workspaceId);
  if (workspace === undefined) return undefined;
  const wanted = rowsOf(tables, workspaceId).filter(({ application }) => application.deletedAt === undefined);
  const urls = [...new Set(wanted.map(({ application }) => application.spec.source.repoUrl))].sort();
  return {
    ...{ workspaceId, apiCluster: workspace.apiCluster, namespace: workspace.namespace },
    repositories: urls.map((url) => ({ url, access: tables.repositoryAccess.get(keyOf(workspaceId, url)) })),
    credentials: tables.repositoryCredentials.where("workspace", workspaceId),
  };
}

/**
 * A repository that no application of the workspace names yet has to be proven before anything of it stands. One that could not be read is probed again
 * at once when one of its applications changes.
 */
export function beginAccess({ tables, notify }: Transaction, workspaceId: WorkspaceId, url: string): void {
  const key = keyOf(workspaceId, url);
  const known = tables.repositoryAccess.get(key);
  const isUsed = usersOf(tables, workspaceId, url).length > 0;
  if (isUsed && (known === undefined || known.state === "proven")) return;
  tables.repositoryAccess.set(
    key,
    isUsed && known !== undefined ? { ...known, probedAt: undefined } : { ...UNPROVEN, ordinal: known?.ordinal ?? 0 },
  );
  notify("repository", workspaceId);
}

export function accessOfApplication(tables: Tables, { workspaceId, spec }: Application): RepositoryAccess | undefined {
  return tables.repositoryAccess.get(keyOf(workspaceId, spec.source.repoUrl));
}

/** As {@link DesiredApplication} has it: with the spelling that instances are given. */
export function spelled(tables: Tables, application: Application): Pick<DesiredApplication, "application" | "access"> {
  const access = accessOfApplication(tables, application);
  if (access === undefined) return { application, access };
  const { source } = application.spec;
  const repoUrl = spellingOf(source.repoUrl, access.ordinal);
  return { access, application: { ...application, spec: { ...application.spec, source: { ...source, repoUrl } } } };
}

export function repositoriesOfUnit(tables: Tables, workspaceId: WorkspaceId, urls: readonly string[]): DesiredUnit["repoUrls"] {
  const spellings = urls.flatMap((url) => {
    const access = tables.repositoryAccess.get(keyOf(workspaceId, url));
    return (access?.state ?? "proven") === "proven" ? [spellingOf(url, access?.ordinal ?? 0)] : [];
  });
  return [...new Set(spellings)].sort();
}

/** `undefined`: the workspace was the first to read as many places of this group as it may. */
function ordinalOf(tables: Tables, workspaceId: WorkspaceId, url: string): number | undefined {
  const [group, place] = [checkoutGroup(url), placeOf(url)];
  const spellings = tables.repositorySpellings.get(group) ?? [];
  const known = spellings.findIndex((one) => one.place === place);
  if (known >= 0) return known;
  if (spellings.filter((one) => one.workspaceId === workspaceId).length >= SPELLINGS_AT_MOST) return undefined;
  tables.repositorySpellings.set(group, [...spellings, { place, workspaceId }]);
  return spellings.length;
}

function recordAccess(transaction: Transaction, { workspaceId, url, access }: AccessRecord): void {
  const { tables } = transaction;
  dropAccess(tables, workspaceId, (known) => usersOf(tables, workspaceId, known).length === 0);
  if (usersOf(tables, workspaceId, url).length === 0) return;
  const before = tables.repositoryAccess.get(keyOf(workspaceId, url)) ?? ASSUMED;
  const ordinal = access.outcome === "readable" ? ordinalOf(tables, workspaceId, url) : before.ordinal;
  const after: RepositoryAccess =
    ordinal === undefined ? { ...access, state: "unproven", outcome: "too-many", ordinal: 0 } : { ...access, ordinal };
  tables.repositoryAccess.set(keyOf(workspaceId, url), after);
  const users = usersOf(tables, workspaceId, url).filter(({ application }) => application.deletedAt === undefined);
  const change = whatFollows(before, after);
  for (const row of users) tell(transaction, row, change);
  if (change.raisesUnits) for (const unitId of new Set(users.map(({ application }) => application.unitId))) raise(transaction, unitId);
}

function confirmAccess(tables: Tables, { workspaceId, url, credential, at }: ConfirmedAccess): void {
  const known = tables.repositoryAccess.get(keyOf(workspaceId, url));
  if (known?.state !== "proven" || known.outcome !== "readable" || known.refusals > 0 || known.credential !== credential) return;
  if (known.probedAt !== undefined && known.probedAt < at)
    tables.repositoryAccess.set(keyOf(workspaceId, url), { ...known, probedAt: at, provenAt: at });
}

function tell({ tables, notify }: Transaction, row: MemoryApplicationRow, change: AccessChange): void {
  const { application } = row;
  const desiredRevision = application.desiredRevision + Number(change.raisesApplications);
  const viewRevision = row.viewRevision + Number(change.tellsUsers);
  tables.applications.put(application.id, { ...row, viewRevision, application: { ...application, desiredRevision } });
  if (change.asksForApplications) notify("application", application.id);
  if (change.tellsUsers) notify("status", application.id);
}

function raise({ tables, notify }: Transaction, unitId: UnitId): void {
  const { unit, ...row } = unitRow(tables, unitId);
  putUnit(tables, { ...row, unit: { ...unit, desiredRevision: unit.desiredRevision + 1 } });
  notify("unit", unitId);
}
