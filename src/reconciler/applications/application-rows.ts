import type { Clock } from "../../domain/clock.ts";
import type { Environment } from "../../domain/environment.ts";
import type { ApplicationId, UnitId } from "../../domain/ids.ts";
import type { Application } from "../../domain/workspace.ts";
import { type MissingPrerequisite, missingPrerequisiteOf } from "../../shard/missing-prerequisite.ts";

interface Row {
  readonly application: { readonly id: ApplicationId; readonly desiredRevision: number };
  readonly unit: { readonly id: UnitId };
}

interface FullRow extends Row {
  readonly application: Pick<Application, "id" | "desiredRevision" | "spec">;
  readonly environment: Pick<Environment, "id"> | undefined;
  readonly unitAppliedRevision: number;
}

/** Rows of applications at hand: those that were just read, and those that wait until their unit's prerequisites stand. */
export interface ApplicationRows<T extends FullRow> {
  /** Keeps a row that was just read for the next run of its key, so that this run need not read it again. */
  keep(row: T): void;
  /** Takes out the row that was kept for this run, if any. No row of this application is kept or waits any more. */
  take(id: ApplicationId): T | undefined;
  /**
   * This run has read its row: none is kept, and none waits, any more. Returns whether there was one. It came in during the read, so nobody
   * knows which of the two is newer.
   */
  remove(id: ApplicationId): boolean;
  /** The application waits for its unit's prerequisites. A row of it that waits already and is newer stays. */
  wait(row: T): void;
  /**
   * The prerequisites stand at this revision, but for what is missing. Returns the applications that may go on. Their rows are kept for them, unless
   * these are old.
   */
  release(unitId: UnitId, revision: number, missingPrerequisites: readonly MissingPrerequisite[]): readonly ApplicationId[];
}

export function createApplicationRows<T extends FullRow>(clock: Pick<Clock, "monotonicMs">): ApplicationRows<T> {
  const kept = new Map<ApplicationId, T>();
  const waiting = createWaitingRows<T>(clock);
  const remove = (id: ApplicationId): boolean => {
    const [wasKept, waited] = [kept.delete(id), waiting.remove(id)];
    return wasKept || waited;
  };
  return {
    keep(row) {
      waiting.remove(row.application.id);
      kept.set(row.application.id, row);
    },
    take(id) {
      const row = kept.get(id);
      remove(id);
      return row;
    },
    remove,
    wait(row) {
      kept.delete(row.application.id);
      waiting.add(row);
    },
    release(unitId, revision, missingPrerequisites) {
      const released = waiting.release(unitId, (row) => missingPrerequisiteOf(row, missingPrerequisites) === undefined);
      for (const { row, isOld } of released) {
        if (!isOld) kept.set(row.application.id, { ...row, unitAppliedRevision: revision });
      }
      return released.map(({ row }) => row.application.id);
    },
  };
}

/** Rows whose applications wait until their unit's prerequisites stand. */
export interface WaitingRows<T extends Row> {
  /** A newer row of the application that waits already stays. */
  add(row: T): void;
  /**
   * What is read now replaces what waited: an application that was deleted meanwhile must not come back with its unit. Returns whether one waited.
   */
  remove(id: ApplicationId): boolean;
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
  const remove = (id: ApplicationId): boolean => {
    const unitId = unitOf.get(id);
    if (unitId === undefined) return false;
    unitOf.delete(id);
    const others = byUnit.get(unitId);
    others?.delete(id);
    if (others?.size === 0) byUnit.delete(unitId);
    return true;
  };
  const find = (id: ApplicationId): T | undefined => {
    const unitId = unitOf.get(id);
    return unitId === undefined ? undefined : byUnit.get(unitId)?.get(id)?.row;
  };
  return {
    add(row) {
      const { id, desiredRevision } = row.application;
      if ((find(id)?.application.desiredRevision ?? 0) > desiredRevision) return;
      remove(id);
      byUnit.set(row.unit.id, (byUnit.get(row.unit.id) ?? new Map()).set(id, { row, since: clock.monotonicMs() }));
      unitOf.set(id, row.unit.id);
    },
    remove,
    release(unitId, mayGoOn) {
      const released = [...(byUnit.get(unitId)?.values() ?? [])].filter(({ row }) => mayGoOn(row));
      for (const { row } of released) remove(row.application.id);
      return released.map(({ row, since }) => ({ row, isOld: clock.monotonicMs() - since > OLD_MS }));
    },
  };
}
