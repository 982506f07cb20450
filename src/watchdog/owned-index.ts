import type { ApplicationId, UnitId } from "../domain/ids.ts";
import type { Owned } from "../domain/ownership.ts";

type Row = Owned & { readonly id: ApplicationId };

/** Rows of who should work for what, found by what is asked for. */
export interface OwnedIndex {
  readonly size: number;
  values(): Iterable<Row>;
  get(id: string): Row | undefined;
  named(argoName: string): Row | undefined;
  ofUnit(unit: UnitId): Iterable<Row>;
  /** Those that their users delete. */
  leaving(): Iterable<Row>;
  /** Ids behind `after` up to `last`, sorted; `undefined`: to the end. */
  between(after: string, last: string | undefined): readonly string[];
}

export interface ChangingIndex extends OwnedIndex {
  set(row: Row): void;
  delete(id: string): void;
}

const NONE: ReadonlyMap<string, Row> = new Map();

/** Creates an index without rows. A change costs as much however many rows there are; after some have come or gone, the list of ids is copied once for the next question. */
export function createOwnedIndex(): ChangingIndex {
  const rows = new Map<string, Row>();
  const names = new Map<string, Row>();
  const units = new Map<UnitId, Map<string, Row>>();
  const leaving = new Map<string, Row>();
  /** Sorted, as of when it was used last; and what has come since then, and whether anything has gone. */
  let ids: string[] = [];
  let added: string[] = [];
  let hasGone = false;

  /** The place of the first id that is not before this one. */
  const placeOf = (id: string): number => {
    let [from, to] = [0, ids.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((ids[middle] as string) < id) from = middle + 1;
      else to = middle;
    }
    return from;
  };
  const sort = (): void => {
    if (hasGone) ids = ids.filter((id) => rows.has(id));
    if (added.length > 0) ids = [...new Set([...ids, ...added.filter((id) => rows.has(id))])].sort();
    [added, hasGone] = [[], false];
  };
  const take = ({ id, argoName, unitId }: Row): void => {
    if (names.get(argoName)?.id === id) names.delete(argoName);
    const unit = units.get(unitId);
    unit?.delete(id);
    if (unit?.size === 0) units.delete(unitId);
    leaving.delete(id);
  };
  return {
    get size() {
      return rows.size;
    },
    values: () => rows.values(),
    get: (id) => rows.get(id),
    named: (argoName) => names.get(argoName),
    ofUnit: (unit) => (units.get(unit) ?? NONE).values(),
    leaving: () => leaving.values(),
    between(after, last) {
      sort();
      const from = placeOf(after);
      const first = ids[from] === after ? from + 1 : from;
      const to = last === undefined ? ids.length : placeOf(last);
      return ids.slice(first, last !== undefined && ids[to] === last ? to + 1 : to);
    },
    set(row) {
      const before = rows.get(row.id);
      if (before === undefined) added.push(row.id);
      else take(before);
      rows.set(row.id, row);
      names.set(row.argoName, row);
      const unit = units.get(row.unitId) ?? new Map<string, Row>();
      units.set(row.unitId, unit.set(row.id, row));
      if (row.isLeaving) leaving.set(row.id, row);
    },
    delete(id) {
      const before = rows.get(id);
      if (before === undefined) return;
      take(before);
      rows.delete(id);
      hasGone = true;
    },
  };
}
