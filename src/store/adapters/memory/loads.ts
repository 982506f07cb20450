import type { PoolSizes } from "../../../domain/capacity.ts";
import { LOAD_DIMENSIONS } from "../../../domain/load.ts";
import type { CountedDestination, CountedUnit, HeavyUnit, KnownLoad, LoadSample, LoadStore } from "../../load/port.ts";
import { applicationsOf, putUnit, workspaceOfTables } from "./applications.ts";
import type { MemoryUnitRow, Tables, Transact } from "./tables.ts";

export function createMemoryLoadStore(transact: Transact): LoadStore {
  return {
    countUnits: (instanceId, signal) =>
      transact(signal, ({ tables }) => tables.units.where("owner", instanceId).map((row) => countedOf(tables, row))),
    recordSample: (sample, signal) => transact(signal, ({ tables }) => recordSample(tables, sample)),
    listInstanceLoads: (className, signal) =>
      transact(signal, ({ tables }) => {
        const own = [...tables.instances.values()].filter((one) => one.class === className && one.state !== "RETIRED");
        return own.toSorted((a, b) => (a.id < b.id ? -1 : 1)).flatMap(({ id }) => tables.instanceLoads.get(id) ?? []);
      }),
    readState: (className, signal) =>
      transact(signal, ({ tables }) => tables.classLoads.get(className) ?? { aboveSince: {}, overloadedSince: {} }),
    recordState: (className, state, signal) => transact(signal, ({ tables }) => void tables.classLoads.set(className, state)),
    listSizes: (signal) =>
      transact(signal, ({ tables }) => {
        const states = [...tables.classLoads].toSorted(([a], [b]) => (a < b ? -1 : 1));
        return Object.assign({}, ...states.map(([, { sizes }]) => sizes ?? {})) as PoolSizes;
      }),
    listHeaviest: ({ limit, instanceId }, signal) =>
      transact(signal, ({ tables }) =>
        heaviest(tables)
          .filter((unit) => instanceId === undefined || unit.instanceId === instanceId)
          .slice(0, limit),
      ),
  };
}

/** What is known of a unit's load. It was measured when its instance was, if that is later than when its own row was written. */
export function knownOf(tables: Tables, { unit, load }: MemoryUnitRow): KnownLoad | undefined {
  const measured = unit.owner === undefined ? undefined : tables.instanceLoads.get(unit.owner);
  return load && measured && measured.at > load.at ? { ...load, at: measured.at } : load;
}

function countedOf(tables: Tables, row: MemoryUnitRow): CountedUnit {
  const { unit } = row;
  const rows = applicationsOf(tables, unit.id);
  // Sorted as text: `sort` would put an absent name last.
  const names = [...new Set(rows.map(({ application }) => application.spec.destination.environment ?? ""))].sort();
  const repositories = Map.groupBy(rows, ({ application }) => application.spec.source.repoUrl);
  return {
    unitId: unit.id,
    workspaceId: unit.workspaceId,
    namespace: workspaceOfTables(tables, unit.workspaceId).namespace,
    epoch: unit.epoch,
    destinations: names.map((name) => destinationOf(tables, unit, name === "" ? undefined : name)),
    repositories: Object.fromEntries([...repositories].map(([url, readers]) => [url, readers.length])),
    known: knownOf(tables, row),
  };
}

function destinationOf(tables: Tables, { id, workspaceId }: MemoryUnitRow["unit"], name: string | undefined): CountedDestination {
  const rows = applicationsOf(tables, id).filter(({ application }) => application.spec.destination.environment === name);
  const named = name === undefined ? [] : tables.environments.where("workspace", workspaceId).filter((each) => each.name === name);
  return {
    isOwn: name === undefined,
    environments: named.map((each) => each.id).sort(),
    applications: rows.length,
    resources: rows.reduce((sum, { status }) => sum + (status?.status.resourceCount ?? 0), 0),
  };
}

function recordSample(tables: Tables, { units, ...instance }: LoadSample): void {
  const { instanceId, at } = instance;
  if (!tables.instances.has(instanceId)) return;
  const before = tables.instanceLoads.get(instanceId);
  if (before !== undefined && before.at >= at) return;
  tables.instanceLoads.set(instanceId, instance);
  for (const { unitId, epoch, load, whole } of units) {
    const row = tables.units.get(unitId);
    if (row === undefined || row.unit.owner !== instanceId || row.unit.epoch !== epoch) continue;
    if (row.load !== undefined && row.load.at >= at) continue;
    putUnit(tables, { ...row, load, unit: { ...row.unit, load: { ...whole, applications: row.unit.load.applications } } });
  }
}

function heaviest(tables: Tables): readonly HeavyUnit[] {
  const held = [...tables.units.values()].flatMap((row): readonly HeavyUnit[] => {
    const { unit } = row;
    const instance = unit.owner === undefined ? undefined : tables.instances.get(unit.owner);
    if (instance === undefined) return [];
    const { namespace } = workspaceOfTables(tables, unit.workspaceId);
    const { bucket, load: planning } = unit;
    const { id: instanceId, capacity } = instance;
    return [{ unitId: unit.id, namespace, bucket, instanceId, planning, capacity, known: knownOf(tables, row) }];
  });
  return held.sort((a, b) => shareOf(b) - shareOf(a) || (a.unitId < b.unitId ? -1 : 1));
}

function shareOf({ planning, capacity }: HeavyUnit): number {
  const shares = LOAD_DIMENSIONS.flatMap((dimension) => (capacity[dimension] > 0 ? planning[dimension] / capacity[dimension] : []));
  return Math.max(-1, ...shares);
}
