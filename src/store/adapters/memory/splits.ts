import { bucketKeys } from "../../../domain/bucket.ts";
import type { WorkspaceId } from "../../../domain/ids.ts";
import { addLoad, LOAD_DIMENSIONS, type LoadVector, ZERO_LOAD } from "../../../domain/load.ts";
import { LOAD_PER_APPLICATION } from "../../placement/planning-load.ts";
import type { SplitChange, SplitRow, SplitStore } from "../../split/port.ts";
import { applicationsOf, dropUnit, putUnit } from "./applications.ts";
import type { MemoryUnitRow, Tables, Transact, Transaction } from "./tables.ts";

export function createMemorySplitStore(transact: Transact): SplitStore {
  return {
    list: (className, beyond, signal) => transact(signal, ({ tables }) => list(tables, className, beyond)),
    commit: (change, signal) => transact(signal, (transaction) => commit(transaction, change)),
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
    part: bucket,
    environment: application.spec.destination.environment ?? "",
    namespace: application.spec.destination.namespace ?? "",
    resources: status?.status.resourceCount,
    hasClusterScoped: status?.status.resources.some(({ namespace }) => (namespace ?? "") === "") === true,
  }));
}

const isLoose = ({ unit }: MemoryUnitRow): boolean => unit.epoch === 0 && unit.owner === undefined;

function commit(transaction: Transaction, change: SplitChange): boolean {
  const { tables, notify, now } = transaction;
  const { workspaceId: id, seen, parts, openPart, roomySince, deal, newUnits, decision } = change;
  const versions = new Map<string, number>(seen.map((row) => [row.id, row.rowVersion]));
  const known = partsOf(tables, id);
  const isAsSeen = known.length === seen.length && known.every(({ unit }) => versions.get(unit.id) === unit.rowVersion);
  const first = known[0];
  if (tables.workspaces.get(id)?.state !== "active" || !isAsSeen || first === undefined) return false;
  tables.splits.set(id, { parts, openPart, roomySince, deal });
  const { wantedClass, ...like } = first.unit;
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
      const key = bucketKeys(row.application.spec.destination).find((each) => deal[each] !== undefined);
      const target = key === undefined ? undefined : loose.find((each) => each.unit.bucket === deal[key])?.unit;
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
