/** Rows by key, found by other columns too. A row is put whole; what `where` returns is sorted by key. */
export interface IndexedTable<Key extends string, Row, Column extends string> {
  get(key: Key): Row | undefined;
  put(key: Key, row: Row): void;
  drop(key: Key): void;
  where(column: Column, value: string): readonly Row[];
  values(): Iterable<Row>;
}

type Columns<Row, Column extends string> = Readonly<Record<Column, (row: Row) => string>>;

export function createIndexedTable<Key extends string, Row, Column extends string>(
  columns: Columns<Row, Column>,
): IndexedTable<Key, Row, Column> {
  const rows = new Map<Key, Row>();
  const indexes = new Map<string, Map<string, Set<Key>>>(Object.keys(columns).map((column) => [column, new Map()]));
  const valuesOf = (row: Row): readonly (readonly [string, string])[] =>
    Object.entries(columns).map(([column, read]) => [column, (read as (row: Row) => string)(row)]);
  const drop = (key: Key): void => {
    const row = rows.get(key);
    if (row === undefined) return;
    rows.delete(key);
    for (const [column, value] of valuesOf(row)) {
      const keys = indexes.get(column)?.get(value);
      keys?.delete(key);
      if (keys?.size === 0) indexes.get(column)?.delete(value);
    }
  };
  const put = (key: Key, row: Row): void => {
    drop(key);
    rows.set(key, row);
    for (const [column, value] of valuesOf(row)) {
      const index = indexes.get(column);
      const keys = index?.get(value);
      if (keys === undefined) index?.set(value, new Set([key]));
      else keys.add(key);
    }
  };
  return {
    get: (key) => rows.get(key),
    put,
    drop,
    where: (column, value) => [...(indexes.get(column)?.get(value) ?? [])].sort().flatMap((key) => rows.get(key) ?? []),
    values: () => rows.values(),
  };
}
