import type { ApplicationId, UnitId } from "../../domain/ids.ts";

interface Row {
  readonly application: { readonly id: ApplicationId };
  readonly unit: { readonly id: UnitId };
}

/** Rows whose applications wait until their unit's objects stand. */
export interface WaitingRows<T extends Row> {
  add(row: T): void;
  /** What is read now replaces what waited: an application that was deleted meanwhile must not come back with its unit. */
  remove(id: ApplicationId): void;
  /** Takes out what waits for the unit and may go on. */
  release(unitId: UnitId, mayGoOn: (row: T) => boolean): readonly T[];
}

export function createWaitingRows<T extends Row>(): WaitingRows<T> {
  const byUnit = new Map<UnitId, Map<ApplicationId, T>>();
  const unitOf = new Map<ApplicationId, UnitId>();
  const remove = (id: ApplicationId): void => {
    const unitId = unitOf.get(id);
    if (unitId === undefined) return;
    unitOf.delete(id);
    const others = byUnit.get(unitId);
    others?.delete(id);
    if (others?.size === 0) byUnit.delete(unitId);
  };
  return {
    add(row) {
      byUnit.set(row.unit.id, (byUnit.get(row.unit.id) ?? new Map()).set(row.application.id, row));
      unitOf.set(row.application.id, row.unit.id);
    },
    remove,
    release(unitId, mayGoOn) {
      const released = [...(byUnit.get(unitId)?.values() ?? [])].filter(mayGoOn);
      for (const row of released) remove(row.application.id);
      return released;
    },
  };
}
