/** Rows by key, found by other columns too. A row is put whole; what `where` returns is sorted by key. */
export interface IndexedTable<Key extends string, Row, Column extends string> {
  get(key: Key): Row | undefined;
  /** Rows that were put later come later in `values`. */
  put(key: Key, row: Row): void;
  drop(key: Key): void;
  where(column: Column, value: string): readonly Row[];
  values(): Iterable<Row>;
}

type Columns<Row, Column extends string> = Readonly<Record<Column, (row: Row) => string>>;

/** The keys of the rows with one value in a column. Sorted when they are first asked for: rows are put more often than their columns change. */
interface Keys<Key> {
  readonly all: Set<Key>;
  sorted: readonly Key[] | undefined;
}

interface Index<Key, Row> {
  readonly read: (row: Row) => string;
  readonly values: Map<string, Keys<Key>>;
}

export function createIndexedTable<Key extends string, Row, Column extends string>(
  columns: Columns<Row, Column>,
): IndexedTable<Key, Row, Column> {
  const rows = new Map<Key, Row>();
  const indexes = new Map<string, Index<Key, Row>>(
    Object.entries<(row: Row) => string>(columns).map(([column, read]) => [column, { read, values: new Map() }]),
  );
  const drop = (key: Key): void => {
    const row = rows.get(key);
    if (row === undefined) return;
    rows.delete(key);
    for (const { read, values } of indexes.values()) leave(values, read(row), key);
  };
  const put = (key: Key, row: Row): void => {
    const before = rows.get(key);
    if (before !== undefined) rows.delete(key);
    rows.set(key, row);
    for (const { read, values } of indexes.values()) {
      const value = read(row);
      const was = before === undefined ? undefined : read(before);
      if (value === was) continue;
      if (was !== undefined) leave(values, was, key);
      enter(values, value, key);
    }
  };
  return {
    get: (key) => rows.get(key),
    put,
    drop,
    where: (column, value) => {
      const keys = indexes.get(column)?.values.get(value);
      if (keys === undefined) return [];
      keys.sorted ??= [...keys.all].sort();
      return keys.sorted.map((key) => rows.get(key) as Row);
    },
    values: () => rows.values(),
  };
}

function enter<Key>(values: Map<string, Keys<Key>>, value: string, key: Key): void {
  const keys = values.get(value);
  if (keys === undefined) values.set(value, { all: new Set([key]), sorted: undefined });
  else {
    keys.all.add(key);
    keys.sorted = undefined;
  }
}

function leave<Key>(values: Map<string, Keys<Key>>, value: string, key: Key): void {
  const keys = values.get(value);
  if (keys === undefined) return;
  keys.all.delete(key);
  keys.sorted = undefined;
  if (keys.all.size === 0) values.delete(value);
}
