import type { Clock } from "../../domain/clock.ts";
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
  release(unitId: UnitId, mayGoOn: (row: T) => boolean): readonly Released<T>[];
}

interface Released<T> {
  readonly row: T;
  /** It waited for so long that another process may have let it go meanwhile: it is to be read again. */
  readonly isOld: boolean;
}

/** A burst waits for less, and reading a row again costs little. In ms. */
export const OLD_MS = 3_000;

export function createWaitingRows<T extends Row>(clock: Pick<Clock, "monotonicMs">): WaitingRows<T> {
  const byUnit = new Map<UnitId, Map<ApplicationId, { readonly row: T; readonly since: number }>>();
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
      byUnit.set(row.unit.id, (byUnit.get(row.unit.id) ?? new Map()).set(row.application.id, { row, since: clock.monotonicMs() }));
      unitOf.set(row.application.id, row.unit.id);
    },
    remove,
    release(unitId, mayGoOn) {
      const released = [...(byUnit.get(unitId)?.values() ?? [])].filter(({ row }) => mayGoOn(row));
      for (const { row } of released) remove(row.application.id);
      return released.map(({ row, since }) => ({ row, isOld: clock.monotonicMs() - since > OLD_MS }));
    },
  };
}
