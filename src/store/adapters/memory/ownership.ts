import type { OwnedApplication, OwnershipStore } from "../../port.ts";
import { workspaceOfTables } from "./applications.ts";
import { environmentNamed } from "./environments.ts";
import type { MemoryApplicationRow, Tables, Transact } from "./tables.ts";

export function createMemoryOwnershipStore(transact: Transact): OwnershipStore {
  return {
    listOwned: ({ after, limit }, signal) =>
      transact(signal, ({ tables }) => {
        const later = [...tables.applications.values()].filter(({ application: { id } }) => id > after);
        const page = later.sort((a, b) => (a.application.id < b.application.id ? -1 : 1)).slice(0, limit);
        return {
          owned: page.flatMap((row) => ownedOf(tables, row) ?? []),
          next: page.length < limit ? undefined : page.at(-1)?.application.id,
        };
      }),
    readOwned: ({ applications, units, argoNames }, signal) =>
      transact(signal, ({ tables }) => {
        const isChosen = ({ application: { id, unitId, argoName } }: MemoryApplicationRow): boolean =>
          applications.includes(id) || units.includes(unitId) || argoNames.includes(argoName);
        const owned = [...tables.applications.values()].filter(isChosen).flatMap((row) => ownedOf(tables, row) ?? []);
        return owned.sort((a, b) => (a.id < b.id ? -1 : 1));
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
