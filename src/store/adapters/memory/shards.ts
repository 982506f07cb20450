import { canonicalJson } from "../../../domain/hash.ts";
import type { ApplicationId, InstanceId, UnitId, WorkspaceId } from "../../../domain/ids.ts";
import { PHASES } from "../../../domain/move-phases.ts";
import type { ShardKind, ShardObject } from "../../../domain/shard-object.ts";
import type { PlacementUnit } from "../../../domain/workspace.ts";
import type { DesiredApplication, DesiredUnit, EndedApplication, Lagging, ProgressNote, ShardStore } from "../../shard/port.ts";
import { UNIT_OBJECT_KINDS } from "../../shard/unit-object-kinds.ts";
import {
  applicationsOf,
  dropApplications,
  dropUnit,
  dropWorkspace,
  environmentRepoUrlsOf,
  objectKey,
  putUnit,
  repoUrlsOf,
  unitRow,
  workspaceOfTables,
} from "./applications.ts";
import { environmentNamed, environmentsOf } from "./environments.ts";
import { liveMoveOf } from "./live-moves.ts";
import { amendOpen, completeOperations } from "./operations-log.ts";
import { repositoriesOfUnit, spelled } from "./repository-access.ts";
import type { MemoryApplicationRow, Tables, Transact, Transaction } from "./tables.ts";

export function createShardStore(transact: Transact): ShardStore {
  return {
    readApplications: (ids, signal) => transact(signal, ({ tables }) => ids.flatMap((id) => readApplication(tables, id) ?? [])),
    readUnit: (id, signal) => transact(signal, ({ tables }) => readUnit(tables, id)),
    listOwned: (instanceId, signal) =>
      transact(signal, ({ tables }) =>
        ownedBy(tables, instanceId).map(({ id, epoch, workspaceId }) => ({ unitId: id, epoch, workspaceId })),
      ),
    listActing: (instanceId, signal) =>
      transact(signal, ({ tables }) => {
        const held = ownedBy(tables, instanceId).map(({ id }) => id);
        const live = [...tables.moves.values()].filter(({ endedAt, phase }) => endedAt === undefined && phase !== "WAITING");
        const moving = live.filter(({ from, to }) => from === instanceId || to === instanceId).map(({ unitId }) => unitId);
        return [...new Set([...held, ...moving])].sort();
      }),
    listApplications: (instanceId, signal) =>
      transact(signal, ({ tables }) => {
        const rows = ownedBy(tables, instanceId).flatMap((unit) =>
          applicationsOf(tables, unit.id).map(({ application: { id, argoName } }) => ({ applicationId: id, argoName, epoch: unit.epoch })),
        );
        return rows.sort((a, b) => (a.applicationId < b.applicationId ? -1 : 1));
      }),
    listEnded: (instanceId, ids, signal) =>
      transact(signal, ({ tables }) => [...new Set(ids)].sort().flatMap((id) => endedOn(tables, instanceId, id) ?? [])),
    listLagging: (instanceIds, limit, signal) => transact(signal, ({ tables }) => listLagging(tables, instanceIds, limit)),
    acknowledge: (objects, signal) =>
      transact(signal, (transaction) => objects.filter((object) => acknowledge(transaction, object)).length),
    recordProgress: (notes, signal) => transact(signal, (transaction) => notes.forEach((note) => recordProgress(transaction, note))),
    forgetObjects: (objects, signal) =>
      transact(signal, ({ tables }) => {
        for (const object of objects) tables.objects.drop(objectKey(object));
      }),
    forgetApplications: (ids, signal) =>
      transact(signal, (transaction) =>
        dropApplications(
          transaction,
          ids.flatMap((id) => transaction.tables.applications.get(id)?.application ?? []),
        ),
      ),
    forgetWorkspace: (id, signal) => transact(signal, ({ tables }) => forgetWorkspace(tables, id)),
    forgetPart: (id, signal) => transact(signal, (transaction) => forgetPart(transaction, id)),
  };
}

function endedOn(tables: Tables, instanceId: InstanceId, id: ApplicationId): EndedApplication | undefined {
  const ended = tables.endedApplications.get(id);
  const unit = ended && tables.units.get(ended.unitId)?.unit;
  if (ended === undefined || unit?.owner !== instanceId || unit.phase !== "IDLE") return undefined;
  return { applicationId: id, argoName: ended.argoName, unitEpoch: unit.epoch };
}

function ownedBy(tables: Tables, instanceId: InstanceId): readonly PlacementUnit[] {
  return tables.units.where("owner", instanceId).map(({ unit }) => unit);
}

/** What the unit's owner has acknowledged, under the present epoch. */
function acknowledged(
  tables: Tables,
  unit: PlacementUnit,
  at: { readonly kind: ShardKind; readonly subject: string },
): ShardObject | undefined {
  if (unit.owner === undefined) return undefined;
  const object = tables.objects.get(objectKey({ ...at, instanceId: unit.owner }));
  return object?.epoch === unit.epoch ? object : undefined;
}

export function unitAppliedRevision(tables: Tables, unit: PlacementUnit): number {
  return Math.min(...UNIT_OBJECT_KINDS.map((kind) => acknowledged(tables, unit, { kind, subject: unit.id })?.appliedRevision ?? 0));
}

function readApplication(tables: Tables, id: ApplicationId): DesiredApplication | undefined {
  const application = tables.applications.get(id)?.application;
  if (application === undefined) return undefined;
  const { unit } = unitRow(tables, application.unitId);
  return {
    ...spelled(tables, application),
    unit,
    workspace: workspaceOfTables(tables, application.workspaceId),
    unitAppliedRevision: unitAppliedRevision(tables, unit),
    environment: environmentNamed(tables, application.workspaceId, application.spec.destination.environment),
    acknowledged: acknowledged(tables, unit, { kind: "application", subject: id }),
  };
}

function readUnit(tables: Tables, id: UnitId): DesiredUnit | undefined {
  const unit = tables.units.get(id)?.unit;
  if (unit === undefined) return undefined;
  return {
    unit,
    workspace: workspaceOfTables(tables, unit.workspaceId),
    repoUrls: repositoriesOfUnit(tables, unit.workspaceId, repoUrlsOf(tables, id)),
    environmentRepoUrls: repositoriesOfUnit(tables, unit.workspaceId, environmentRepoUrlsOf(tables, id)),
    applications: applicationsOf(tables, id).length,
    repositoryCredentials: tables.repositoryCredentials.where("workspace", unit.workspaceId),
    environments: environmentsOf(tables, unit),
    hasAccountsElsewhere: hasAccounts(tables, unit.workspaceId),
    acknowledged: [id, ...tables.environments.where("workspace", unit.workspaceId).map((environment) => environment.id)].flatMap(
      (subject) => tables.objects.where("subject", subject),
    ),
  };
}

function hasAccounts(tables: Tables, id: WorkspaceId): boolean {
  return tables.environments.where("workspace", id).some(({ hasAccount }) => hasAccount);
}

function listLagging(tables: Tables, instanceIds: readonly InstanceId[], limit: number): Lagging {
  const units = [...new Set(instanceIds)].flatMap((id) => ownedBy(tables, id));
  const isBehind = (unit: PlacementUnit, { application }: MemoryApplicationRow): boolean =>
    application.deletedAt !== undefined ||
    (acknowledged(tables, unit, { kind: "application", subject: application.id })?.appliedRevision ?? 0) < application.desiredRevision;
  const applications = units.flatMap((unit) => applicationsOf(tables, unit.id).filter((row) => isBehind(unit, row)));
  const behind = units.filter(
    (unit) => unitAppliedRevision(tables, unit) < unit.desiredRevision || workspaceOfTables(tables, unit.workspaceId).state === "deleting",
  );
  return {
    applications: applications
      .map(({ application }) => application.id)
      .sort()
      .slice(0, limit),
    units: behind
      .map((unit) => unit.id)
      .sort()
      .slice(0, limit),
  };
}

function acknowledge(transaction: Transaction, object: ShardObject): boolean {
  const { tables } = transaction;
  const before = tables.objects.get(objectKey(object));
  if (
    before !== undefined &&
    (before.epoch > object.epoch || (before.epoch === object.epoch && before.appliedRevision > object.appliedRevision))
  )
    return false;
  const unit = unitOf(tables, object);
  if (object.kind !== "cluster-entry" && (unit?.owner !== object.instanceId || unit.epoch !== object.epoch)) return false;
  tables.objects.put(objectKey(object), object);
  if (object.kind === "application")
    completeOperations(transaction, object.subject as ApplicationId, { kind: "apply-application", revision: object.appliedRevision });
  return true;
}

function recordProgress(transaction: Transaction, { applicationId, blockage, attempts, state, message }: ProgressNote): void {
  const { tables, notify } = transaction;
  const open = tables.operations.where("subject", applicationId).filter(({ operation }) => operation.state !== "Completed");
  const isChange = open.some(({ operation }) => operation.message !== message);
  amendOpen(transaction, applicationId, { state, message }, { attempts });
  const row = tables.applications.get(applicationId);
  const isSameBlockage = canonicalJson(row?.blockage ?? null) === canonicalJson(blockage ?? null);
  if (row === undefined || (isSameBlockage && !isChange)) return;
  tables.applications.put(applicationId, { ...row, blockage, viewRevision: row.viewRevision + 1 });
  notify("status", applicationId);
}

function unitOf(tables: Tables, { kind, subject }: ShardObject): PlacementUnit | undefined {
  const unitId = kind === "application" ? tables.applications.get(subject as ApplicationId)?.application.unitId : (subject as UnitId);
  return unitId === undefined ? undefined : tables.units.get(unitId)?.unit;
}

function forgetWorkspace(tables: Tables, id: WorkspaceId): boolean {
  const workspace = tables.workspaces.get(id);
  if (workspace === undefined) return true;
  const units = tables.units.where("workspace", id).map(({ unit }) => unit.id);
  const isEmpty = units.every((unit) => applicationsOf(tables, unit).length === 0 && !isBeingMoved(tables, unit));
  if (workspace.state !== "deleting" || !isEmpty || hasAccounts(tables, id)) return false;
  dropWorkspace(tables, id);
  return true;
}

function forgetPart({ tables, notify }: Transaction, id: UnitId): boolean {
  const unit = tables.units.get(id)?.unit;
  if (unit === undefined) return true;
  if (unit.joins === undefined || applicationsOf(tables, id).length > 0 || isBeingMoved(tables, id)) return false;
  for (const ended of tables.endedApplications.where("unit", id)) tables.endedApplications.put(ended.id, { ...ended, unitId: unit.joins });
  for (const object of tables.objects.where("subject", id)) tables.objects.drop(objectKey(object));
  dropUnit(tables, id);
  for (const row of tables.units.where("workspace", unit.workspaceId))
    if (row.unit.tookFrom === id) {
      const { tookFrom: _gone, ...kept } = row.unit;
      putUnit(tables, { ...row, unit: kept });
    }
  const split = tables.splits.get(unit.workspaceId);
  const parts = (split?.parts ?? 1) - 1;
  if (parts <= 1) tables.splits.delete(unit.workspaceId);
  else if (split !== undefined) tables.splits.set(unit.workspaceId, { ...split, parts, openPart: Math.min(split.openPart, parts - 1) });
  notify("unit", unit.joins);
  return true;
}

/** One that waits for its turn has done nothing yet, and goes with its unit. */
function isBeingMoved(tables: Tables, unit: UnitId): boolean {
  const move = liveMoveOf(tables, unit);
  return move !== undefined && PHASES[move.phase].isUnderWay;
}
