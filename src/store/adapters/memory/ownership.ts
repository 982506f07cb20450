import type { OwnedApplication, OwnershipStore } from "../../port.ts";
import { workspaceOfTables } from "./applications.ts";
import { environmentNamed } from "./environments.ts";
import type { MemoryApplicationRow, Tables, Transact } from "./tables.ts";

export function createMemoryOwnershipStore(transact: Transact): OwnershipStore {
  return {
    listOwned: ({ after, limit }, signal) =>
      transact(signal, ({ tables }) => {
        const rows = [...tables.applications.values()].filter(({ application: { id } }) => id > after);
        const owned = rows.flatMap((row) => ownedOf(tables, row) ?? []);
        return owned.sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, limit);
      }),
  };
}

function ownedOf(tables: Tables, { application, status }: MemoryApplicationRow): OwnedApplication | undefined {
  const { id, argoName, unitId, workspaceId, deletedAt, spec } = application;
  const unit = tables.units.get(unitId)?.unit;
  if (unit?.owner === undefined) return undefined;
  const { environment } = spec.destination;
  const { groups } = workspaceOfTables(tables, workspaceId);
  const isReached = environment === undefined || environmentNamed(tables, workspaceId, environment)?.state === "connected";
  return {
    id,
    argoName,
    unitId,
    owner: unit.owner,
    class: unit.class,
    ...(groups === undefined || Object.keys(groups.apart).length === 0 ? {} : { apart: groups.apart }),
    isMoving: unit.phase === "MOVING",
    isLeaving: deletedAt !== undefined,
    hasStood: status !== undefined && isReached,
  };
}
