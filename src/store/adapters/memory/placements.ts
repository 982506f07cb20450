import { NO_DIRECTIVE } from "../../../domain/directive.ts";
import { readClass } from "../../../domain/fleet.ts";
import { clashesOf } from "../../../domain/groups.ts";
import type { InstanceId, UnitId, WorkspaceId } from "../../../domain/ids.ts";
import { loadOn } from "../../../domain/instance.ts";
import { addLoad, LOAD_DIMENSIONS, type LoadVector, ZERO_LOAD } from "../../../domain/load.ts";
import { refusalHash } from "../../../domain/refusal.ts";
import type { PlacementUnit, Workspace } from "../../../domain/workspace.ts";
import { WAITING_FOR_CAPACITY, WAITING_FOR_INSTANCE } from "../../operation/messages.ts";
import type { Page } from "../../operation/port.ts";
import type {
  FirstPlacement,
  FleetSnapshot,
  InstanceWithLoad,
  PlacementOutcome,
  PlacementRefusal,
  PlacementStore,
  UnitWithWorkspace,
} from "../../placement/port.ts";
import { applicationsOf, objectKey, putUnit, workspaceOfTables } from "./applications.ts";
import { arrivingAt, liveMoveOf } from "./live-moves.ts";
import { amendOpen } from "./operations-log.ts";
import type { MemoryUnitRow, Tables, Transact, Transaction } from "./tables.ts";

export function createPlacementStore(transact: Transact): PlacementStore {
  return {
    readUnit: (id, signal) => transact(signal, ({ tables }) => unitWithWorkspace(tables, id)),
    readUnits: (ids, signal) =>
      transact(signal, ({ tables }) => [...new Set(ids)].sort().flatMap((id) => unitWithWorkspace(tables, id) ?? [])),
    readUnitsOf: (workspaceId, signal) =>
      transact(signal, ({ tables }) => tables.units.where("workspace", workspaceId).map(({ unit }) => unit)),
    readFleet: (className, signal) => transact(signal, ({ tables }) => readFleet(tables, className)),
    listUnsettled: (page, signal) => transact(signal, ({ tables }) => listUnsettled(tables, page)),
    takeClassOfOwner: (unitId, signal) => transact(signal, (transaction) => void takeClassOfOwner(transaction, unitId)),
    commitFirstPlacement: (placement, signal) => transact(signal, (transaction) => commit(transaction, placement)),
    recordRegrouped: (unitId, signal) => transact(signal, ({ tables }) => recordRegrouped(tables, unitId)),
    recordUnplaceable: (unitId, refusal, signal) => transact(signal, (transaction) => recordUnplaceable(transaction, unitId, refusal)),
  };
}

function unitWithWorkspace(tables: Tables, id: UnitId): UnitWithWorkspace | undefined {
  const row = tables.units.get(id);
  if (row === undefined) return undefined;
  const { unit, unplaceable: refused } = row;
  const directive = tables.directives.get(unit.workspaceId) ?? NO_DIRECTIVE;
  const workspace = workspaceOfTables(tables, unit.workspaceId);
  const others = { strangers: allStrangers(tables, unit), companions: companionsOf(tables, workspace) };
  const known = { unit, workspace, directive, siblings: siblingsOf(tables, unit), ...others };
  return refused === undefined ? known : { ...known, refused };
}

/** Instances that hold other parts of the unit's workspace, or that live moves bring some to. */
function siblingsOf(tables: Tables, { id, workspaceId }: PlacementUnit): readonly InstanceId[] {
  const others = tables.units.where("workspace", workspaceId).filter(({ unit }) => unit.id !== id);
  const instances = others.flatMap(({ unit }) => [unit.owner ?? [], liveMoveOf(tables, unit.id)?.to ?? []].flat());
  return [...new Set(instances)].sort();
}

/** The same but for a part that the unit is to become one with: the two may meet. */
export function strangersOf(tables: Tables, unit: PlacementUnit): readonly InstanceId[] {
  const others = tables.units.where("workspace", unit.workspaceId).map((row) => row.unit);
  const strangers = others.filter(({ id, joins }) => id !== unit.id && joins !== unit.id && unit.joins !== id);
  return [...new Set(strangers.flatMap(({ id, owner }) => [owner ?? [], liveMoveOf(tables, id)?.to ?? []].flat()))].sort();
}

/** Instances on which a workspace is, will be, or was until a live move that has not ended. */
function whereabouts(tables: Tables, id: WorkspaceId): readonly InstanceId[] {
  const units = tables.units.where("workspace", id);
  return units.flatMap(({ unit }) => {
    const move = liveMoveOf(tables, unit.id);
    return [unit.owner ?? [], move === undefined ? [] : [move.from, move.to]].flat();
  });
}

function allStrangers(tables: Tables, { workspaceId }: PlacementUnit): UnitWithWorkspace["strangers"] {
  const own = workspaceOfTables(tables, workspaceId).groups;
  if (own === undefined) return [];
  const found = [...tables.workspaces.values()].flatMap(({ id, groups }) => {
    const strangers = id === workspaceId ? [] : clashesOf(own, groups);
    return strangers.length === 0 ? [] : whereabouts(tables, id).flatMap((instance) => strangers.map((each) => ({ instance, ...each })));
  });
  const keyOf = ({ instance, label, value }: (typeof found)[number]): string => `${instance} ${label} ${value}`;
  return [...new Map(found.map((each) => [keyOf(each), each])).values()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

/** Whether nobody is, or will be, on an instance from whom the unit must be apart. */
export function isApart(tables: Tables, unit: PlacementUnit, instanceId: InstanceId): boolean {
  return allStrangers(tables, unit).every(({ instance }) => instance !== instanceId);
}

function companionsOf(tables: Tables, { id, groups }: Workspace): readonly InstanceId[] {
  if (groups?.together === undefined) return [];
  const others = [...tables.workspaces.values()].filter((each) => each.id !== id && each.groups?.together === groups.together);
  const owners = others.flatMap((each) => tables.units.where("workspace", each.id).flatMap(({ unit }) => unit.owner ?? []));
  const counts = [...Map.groupBy(owners, (owner) => owner)].map(([owner, all]) => ({ owner, count: all.length }));
  return counts.sort((a, b) => b.count - a.count || (a.owner < b.owner ? -1 : 1)).map(({ owner }) => owner);
}

function recordRegrouped(tables: Tables, unitId: UnitId): void {
  const row = tables.units.get(unitId);
  if (row?.unit.owner === undefined || row.unit.isRegrouped !== true || !isApart(tables, row.unit, row.unit.owner)) return;
  const { isRegrouped: _mark, ...unit } = row.unit;
  putUnit(tables, { ...row, unit });
}

function loadOfInstance(tables: Tables, instanceId: InstanceId): LoadVector {
  const held = tables.units.where("owner", instanceId).map(({ unit }) => unit);
  const arriving = arrivingAt(tables, instanceId).flatMap((id) => tables.units.get(id)?.unit ?? []);
  const on = tables.instances.get(instanceId) ?? {};
  return [...new Set([...held, ...arriving])].reduce((sum, { load }) => addLoad(sum, loadOn(on, load)), ZERO_LOAD);
}

/** What the instance would have with this unit. */
export function loadWith(tables: Tables, instanceId: InstanceId, { load }: Pick<PlacementUnit, "load">): LoadVector {
  return addLoad(loadOfInstance(tables, instanceId), loadOn(tables.instances.get(instanceId) ?? {}, load));
}

function readFleet(tables: Tables, className: string): FleetSnapshot {
  const own = [...tables.instances.values()].filter((instance) => instance.class === className && instance.state !== "RETIRED");
  const instances = own.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return {
    class: className,
    floor: instances.length === 0 ? undefined : tables.fleet?.spec.versions.floor,
    instances: instances.map((instance) => ({
      instance,
      load: loadOfInstance(tables, instance.id),
      units: tables.units.where("owner", instance.id).length,
      verdict: verdictOn(tables, instance.id),
    })),
  };
}

function verdictOn(tables: Tables, id: InstanceId): InstanceWithLoad["verdict"] {
  const verdict = tables.verdicts.get(id);
  return verdict && { state: verdict.state, at: verdict.at };
}

function commit(transaction: Transaction, { unitId, rowVersion, instanceId, ceiling, decision }: FirstPlacement): PlacementOutcome {
  const { tables, notify } = transaction;
  const row = tables.units.get(unitId);
  if (row === undefined || row.unit.owner !== undefined || row.unit.rowVersion !== rowVersion) return { kind: "stale" };
  const { unit } = row;
  const load = loadWith(tables, instanceId, unit);
  const isRoomy = LOAD_DIMENSIONS.every((dimension) => load[dimension] <= ceiling[dimension]);
  const fits = isRoomy && !siblingsOf(tables, unit).includes(instanceId) && isApart(tables, unit, instanceId);
  if (tables.instances.get(instanceId)?.state !== "ACTIVE" || !fits) return { kind: "full" };
  const epoch = ++tables.lastEpoch;
  putUnit(tables, {
    ...row,
    unit: { ...unit, owner: instanceId, epoch, phase: "IDLE", rowVersion: unit.rowVersion + 1 },
    unplaceable: undefined,
  });
  tables.decisions.push(decision);
  notify("unit", unitId);
  changeViews(transaction, unitId, { instanceId, message: WAITING_FOR_INSTANCE });
  return { kind: "placed", epoch };
}

function recordUnplaceable(transaction: Transaction, unitId: UnitId, { decision, reason }: PlacementRefusal): void {
  const { tables } = transaction;
  const row = tables.units.get(unitId);
  if (row === undefined || (row.unit.owner !== undefined && row.unit.wantedClass === undefined && row.unit.isRegrouped !== true)) return;
  const facts = refusalHash(decision, reason);
  if (row.unplaceable !== facts) tables.decisions.push(decision);
  putUnit(tables, { ...row, unplaceable: facts });
  if (row.unplaceable !== undefined || row.unit.owner !== undefined) return;
  changeViews(transaction, unitId, { message: WAITING_FOR_CAPACITY });
}

/** What users see of the unit's applications changed: notify each. */
export function changeViews(
  transaction: Transaction,
  unitId: UnitId,
  change: { readonly instanceId?: InstanceId; readonly message: string },
): void {
  const { tables, notify } = transaction;
  for (const row of applicationsOf(tables, unitId)) {
    const { id } = row.application;
    tables.applications.put(id, { ...row, viewRevision: row.viewRevision + 1 });
    amendOpen(transaction, id, change);
    notify("application", id);
  }
}

function listUnsettled(tables: Tables, { limit, after }: Page): readonly UnitId[] {
  const last = after === "" ? undefined : tables.units.get(after as UnitId);
  if (after !== "" && last === undefined) return [];
  const isBehind = ({ createdAt, unit }: MemoryUnitRow): boolean =>
    last === undefined || createdAt > last.createdAt || (createdAt === last.createdAt && unit.id > last.unit.id);
  const byAge = (a: MemoryUnitRow, b: MemoryUnitRow): number => a.createdAt - b.createdAt || (a.unit.id < b.unit.id ? -1 : 1);
  const waiting = tables.units.where("settled", "false").filter(({ unit }) => liveMoveOf(tables, unit.id) === undefined);
  const found = waiting.filter(isBehind).toSorted(byAge);
  return found.slice(0, limit).map(({ unit }) => unit.id);
}

/** Gives a unit its owner and epoch; what was acknowledged of it, wherever, says nothing any more. */
export function deploy(
  transaction: Transaction,
  unitId: UnitId,
  change: Pick<PlacementUnit, "owner" | "epoch"> & Partial<PlacementUnit>,
): PlacementUnit | undefined {
  const { tables, notify } = transaction;
  const row = tables.units.get(unitId);
  if (row === undefined) return undefined;
  const subjects = [unitId, ...applicationsOf(tables, unitId).map(({ application }) => application.id)];
  for (const subject of subjects) for (const object of tables.objects.where("subject", subject)) tables.objects.drop(objectKey(object));
  putUnit(tables, { ...row, unit: { ...row.unit, ...change, rowVersion: row.unit.rowVersion + 1 } });
  notify("unit", unitId);
  const { owner } = change;
  changeViews(transaction, unitId, { ...(owner === undefined ? {} : { instanceId: owner }), message: WAITING_FOR_INSTANCE });
  return row.unit;
}

/** A unit has the class of the instance that owns it, and its workspace that trust. Returns the unit as it is then. */
export function takeClassOfOwner({ tables, notify }: Transaction, unitId: UnitId): PlacementUnit | undefined {
  const row = tables.units.get(unitId);
  const owner = row?.unit.owner === undefined ? undefined : tables.instances.get(row.unit.owner);
  if (row === undefined || owner === undefined || owner.class === row.unit.class) return row?.unit;
  const unit = { ...settledIn(row.unit, owner.class), class: owner.class, rowVersion: row.unit.rowVersion + 1 };
  putUnit(tables, { ...row, unit });
  const workspace = workspaceOfTables(tables, unit.workspaceId);
  tables.workspaces.put(workspace.id, { ...workspace, trustClass: readClass(owner.class).trust });
  notify("class", workspace.id);
  return unit;
}

/** The unit without the class that it was to have, where this is that class. */
function settledIn({ wantedClass, ...unit }: PlacementUnit, className: string): PlacementUnit {
  return wantedClass === undefined || wantedClass === className ? unit : { ...unit, wantedClass };
}
