import { partOfDeal } from "../../../domain/bucket.ts";
import type { Decision } from "../../../domain/decision.ts";
import type { UnitId, WorkspaceId } from "../../../domain/ids.ts";
import { addLoad, LOAD_DIMENSIONS, type LoadDimension, type LoadVector, loadVector, ZERO_LOAD } from "../../../domain/load.ts";
import type { KnownLoad } from "../../load/port.ts";
import { LOAD_PER_APPLICATION } from "../../placement/planning-load.ts";
import type { Cut, Joining, SplitChange, SplitRow, SplitStore } from "../../split/port.ts";
import { applicationsOf, dropUnit, putUnit } from "./applications.ts";
import { liveMoveOf } from "./live-moves.ts";
import { isShared, type PartRules } from "./part-rules.ts";
import { deploy } from "./placements.ts";
import type { MemoryApplicationRow, MemoryUnitRow, Tables, Transact, Transaction } from "./tables.ts";

export function createMemorySplitStore(transact: Transact, rules: PartRules): SplitStore {
  return {
    list: (className, beyond, signal) => transact(signal, ({ tables }) => list(tables, className, beyond)),
    commit: (change, signal) => transact(signal, (transaction) => commit(transaction, change)),
    cut: (change, signal) => transact(signal, (transaction) => cut(transaction, change)),
    join: (change, signal) => transact(signal, (transaction) => join(transaction, change)),
    takeOver: (unitId, decision, signal) => transact(signal, (transaction) => takeOver(transaction, rules, { unitId, decision })),
    keepApart: (unitId, signal) => transact(signal, ({ tables }) => keepApart(tables, unitId)),
  };
}

/** By number of the part. */
function partsOf(tables: Tables, id: WorkspaceId): readonly MemoryUnitRow[] {
  return tables.units.where("workspace", id).toSorted((a, b) => a.unit.bucket - b.unit.bucket);
}

function list(tables: Tables, className: string, beyond: LoadVector): readonly SplitRow[] {
  const workspaces = [...tables.workspaces.values()].filter(({ state }) => state === "active").map(({ id }) => id);
  return workspaces.sort().flatMap((id) => {
    const units = partsOf(tables, id).map(({ unit }) => unit);
    const load = units.reduce((sum, unit) => addLoad(sum, unit.load), ZERO_LOAD);
    const split = tables.splits.get(id);
    const isMeant = split !== undefined || LOAD_DIMENSIONS.some((dimension) => load[dimension] > beyond[dimension]);
    if (!isMeant || units[0]?.class !== className) return [];
    return [{ workspaceId: id, units, ...(split ?? UNSPLIT), applications: units.flatMap((unit) => rowsOf(tables, unit)).sort(byId) }];
  });
}

const UNSPLIT = { parts: 1, openPart: 0, roomySince: undefined, deal: {} } as const;
const byId = (a: { readonly id: string }, b: { readonly id: string }): number => (a.id < b.id ? -1 : 1);

function rowsOf(tables: Tables, { id, bucket }: MemoryUnitRow["unit"]): SplitRow["applications"] {
  return applicationsOf(tables, id).map(({ application, status }) => ({
    id: application.id,
    name: application.name,
    part: bucket,
    environment: application.spec.destination.environment ?? "",
    namespace: application.spec.destination.namespace ?? "",
    resources: status?.status.resourceCount,
    hasClusterScoped: status?.status.resources.some(({ namespace }) => (namespace ?? "") === "") === true,
  }));
}

function isAsSeen(tables: Tables, { workspaceId, seen }: Pick<SplitChange, "workspaceId" | "seen">): boolean {
  const versions = new Map<string, number>(seen.map((row) => [row.id, row.rowVersion]));
  const known = partsOf(tables, workspaceId);
  const isSame = known.length === seen.length && known.every(({ unit }) => versions.get(unit.id) === unit.rowVersion);
  return isSame && tables.workspaces.get(workspaceId)?.state === "active";
}

const isLoose = ({ unit }: MemoryUnitRow): boolean => unit.epoch === 0 && unit.owner === undefined;

function commit(transaction: Transaction, change: SplitChange): boolean {
  const { tables, notify, now } = transaction;
  const { workspaceId: id, parts, openPart, roomySince, deal, newUnits, decision } = change;
  const known = partsOf(tables, id);
  const first = known[0];
  if (!isAsSeen(tables, change) || first === undefined) return false;
  tables.splits.set(id, { parts, openPart, roomySince, deal });
  const { wantedClass, isRegrouped: _mark, ...like } = first.unit;
  for (const { id: unitId, part } of newUnits) {
    if (known.some(({ unit }) => unit.bucket === part)) continue;
    const unit = {
      ...like,
      class: wantedClass ?? like.class,
      id: unitId,
      bucket: part,
      owner: undefined,
      epoch: 0,
      phase: "UNPLACED",
      load: ZERO_LOAD,
    } as const;
    putUnit(tables, { unit: { ...unit, desiredRevision: 0, rowVersion: 1 }, unplaceable: undefined, createdAt: now() });
    notify("unit", unitId);
  }
  if (decision !== undefined) tables.decisions.push(decision);
  reassign(tables, change);
  reckon(transaction, change);
  if (parts === 1) tables.splits.delete(id);
  return true;
}

function reassign(tables: Tables, { workspaceId, deal }: SplitChange): void {
  const loose = partsOf(tables, workspaceId).filter(isLoose);
  for (const { unit } of loose)
    for (const row of applicationsOf(tables, unit.id)) {
      const { spec, name } = row.application;
      const part = partOfDeal(deal, { destination: spec.destination, name });
      const target = loose.find((each) => each.unit.bucket === part)?.unit;
      if (target === undefined || target.id === unit.id) continue;
      tables.applications.put(row.application.id, { ...row, application: { ...row.application, unitId: target.id } });
    }
}

function reckon({ tables, notify }: Transaction, { workspaceId, parts }: SplitChange): void {
  for (const row of partsOf(tables, workspaceId).filter(isLoose)) {
    const { unit } = row;
    const count = applicationsOf(tables, unit.id).length;
    if (count === 0 && unit.bucket >= parts) {
      dropUnit(tables, unit.id);
      continue;
    }
    const load = { ...ZERO_LOAD, applications: count * LOAD_PER_APPLICATION };
    const { desiredRevision, rowVersion } = unit;
    putUnit(tables, {
      ...row,
      unit: { ...unit, load, desiredRevision: desiredRevision + 1, rowVersion: rowVersion + 1 },
      unplaceable: undefined,
    });
    notify("unit", unit.id);
  }
}

function cut(transaction: Transaction, change: Cut): boolean {
  const { tables, now } = transaction;
  const { workspaceId, unitId, staying, deal, loads, decision } = change;
  const row = tables.units.get(unitId);
  if (row === undefined || !isAsSeen(tables, change)) return false;
  const { unit } = row;
  const isSettled = unit.wantedClass === undefined && unit.isRegrouped !== true;
  const isAtRest = unit.phase === "IDLE" && unit.owner !== undefined && unit.joins === undefined && isSettled;
  if (!isAtRest || liveMoveOf(tables, unitId) !== undefined || isShared(tables, unit, [unitId])) return false;
  const passing = applicationsOf(tables, unitId).filter(({ application: { name, spec } }) => {
    return partOfDeal(deal, { destination: spec.destination, name }) === staying.part;
  });
  if (passing.length === 0 || passing.some(isElsewhere)) return false;
  const parts = partsOf(tables, workspaceId).length + 1;
  const openPart = tables.splits.get(workspaceId)?.openPart ?? 0;
  tables.splits.set(workspaceId, { parts, openPart, roomySince: undefined, deal });
  const { tookFrom: _before, ...like } = unit;
  const made = { ...like, id: staying.id, bucket: staying.part, load: loads.staying, desiredRevision: 0, rowVersion: 1 };
  putUnit(tables, { unit: made, unplaceable: undefined, createdAt: now(), load: shareOfKnown(row.load, loads, "staying") });
  pass(transaction, passing, { from: unitId, to: staying.id });
  const left = tables.units.get(unitId) ?? row;
  putUnit(tables, {
    ...left,
    unit: { ...left.unit, load: counted(tables, unitId, loads.leaving) },
    load: shareOfKnown(row.load, loads, "leaving"),
  });
  tables.decisions.push(decision);
  return true;
}

const isElsewhere = ({ application }: MemoryApplicationRow): boolean => application.spec.destination.environment !== undefined;

function counted(tables: Tables, id: UnitId, load: LoadVector): LoadVector {
  return { ...load, applications: applicationsOf(tables, id).length * LOAD_PER_APPLICATION };
}

/** What is known of the load is dealt as the planning load is. */
function shareOfKnown(known: KnownLoad | undefined, loads: Cut["loads"], which: keyof Cut["loads"]): KnownLoad | undefined {
  if (known === undefined) return undefined;
  const staying = (dimension: LoadDimension): number => {
    const whole = loads.leaving[dimension] + loads.staying[dimension];
    return whole > 0 ? loads.staying[dimension] / whole : 0;
  };
  const dealt = (load: LoadVector): LoadVector =>
    loadVector((dimension) => load[dimension] * (which === "staying" ? staying(dimension) : 1 - staying(dimension)));
  return { ...known, planning: dealt(known.planning), recent: dealt(known.recent) };
}

/** Gives applications of one unit to another one on the same instance, under a new epoch of that one. */
function pass(
  transaction: Transaction,
  passing: readonly MemoryApplicationRow[],
  { from, to }: { readonly from: UnitId; readonly to: UnitId },
): void {
  const { tables, notify } = transaction;
  for (const row of passing) tables.applications.put(row.application.id, { ...row, application: { ...row.application, unitId: to } });
  const row = tables.units.get(to);
  if (row === undefined) return;
  const { owner, desiredRevision } = row.unit;
  tables.lastEpoch += 1;
  deploy(transaction, to, { owner, epoch: tables.lastEpoch, tookFrom: from, desiredRevision: desiredRevision + 1 });
  const taken = tables.units.get(to) ?? row;
  putUnit(tables, { ...taken, unit: { ...taken.unit, load: counted(tables, to, taken.unit.load) } });
  const left = tables.units.get(from);
  if (left === undefined) return;
  const { unit } = left;
  putUnit(tables, { ...left, unit: { ...unit, desiredRevision: unit.desiredRevision + 1, rowVersion: unit.rowVersion + 1 } });
  notify("unit", from);
}

function join({ tables }: Transaction, change: Joining): boolean {
  const { workspaceId, unitId, into, deal, decision } = change;
  const known = partsOf(tables, workspaceId);
  const [row, other] = [unitId, into].map((id) => known.find(({ unit }) => unit.id === id));
  if (!isAsSeen(tables, change) || row === undefined || other === undefined || row === other) return false;
  const isFree = [row, other].every(({ unit }) => unit.joins === undefined && unit.owner !== undefined);
  const isLast = known.every(({ unit }) => unit.bucket <= row.unit.bucket);
  if (!isFree || !isLast || applicationsOf(tables, unitId).some(isElsewhere)) return false;
  putUnit(tables, { ...row, unit: { ...row.unit, joins: into, rowVersion: row.unit.rowVersion + 1 } });
  const split = tables.splits.get(workspaceId);
  if (split !== undefined) tables.splits.set(workspaceId, { ...split, openPart: other.unit.bucket, roomySince: undefined, deal });
  tables.decisions.push(decision);
  return true;
}

function takeOver(
  transaction: Transaction,
  rules: PartRules,
  { unitId, decision }: { readonly unitId: UnitId; readonly decision: Decision },
): boolean {
  const { tables } = transaction;
  const row = tables.units.get(unitId);
  const other = row?.unit.joins === undefined ? undefined : tables.units.get(row.unit.joins);
  if (row === undefined || other === undefined || tables.workspaces.get(row.unit.workspaceId)?.state !== "active") return false;
  const passing = applicationsOf(tables, unitId);
  if (!rules.mayTakeOver(tables, row.unit, other.unit) || passing.some(isElsewhere)) return false;
  const known = row.load;
  putUnit(tables, {
    ...other,
    unit: { ...other.unit, load: addLoad(other.unit.load, row.unit.load) },
    load: other.load && known ? sumOfKnown(other.load, known) : other.load,
  });
  putUnit(tables, { ...row, unit: { ...row.unit, load: ZERO_LOAD }, load: undefined });
  pass(transaction, passing, { from: unitId, to: other.unit.id });
  tables.decisions.push(decision);
  return true;
}

function sumOfKnown(one: KnownLoad, other: KnownLoad): KnownLoad {
  return { ...one, planning: addLoad(one.planning, other.planning), recent: addLoad(one.recent, other.recent) };
}

function keepApart(tables: Tables, unitId: UnitId): void {
  const row = tables.units.get(unitId);
  const other = row?.unit.joins === undefined ? undefined : tables.units.get(row.unit.joins)?.unit;
  if (row === undefined || other === undefined || other.tookFrom === unitId) return;
  const { joins: _taken, ...unit } = row.unit;
  putUnit(tables, { ...row, unit: { ...unit, rowVersion: unit.rowVersion + 1 } });
}
