import { stringify } from "yaml";
import { follow, unlessInterrupted } from "./follow.ts";
import { observe } from "./observe.ts";
import { isForPrograms, type OutputFormat, shownOf, tableOf } from "./output.ts";
import { type Column, cellsOf, cellText, type Table } from "./table.ts";
import { interruptedCode, type Terminal } from "./terminal.ts";

/** A row of any kind. */
export interface Row {
  readonly id: string;
}

/** A list as it was read, and what may be said about it. */
export interface Listed {
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  /** It ends somewhere: what is not listed any more may be there all the same. */
  readonly isNewest: boolean;
  /** Fields that change as time goes by. */
  readonly clocks: readonly string[];
  /** What the narrow table leaves out of these rows that a person should know. */
  remarkOf(rows: readonly Row[]): string | undefined;
}

interface ListTraits<T> {
  readonly isNewest?: boolean;
  readonly clocks?: readonly (keyof T & string)[];
  readonly remarkOf?: (rows: readonly T[]) => string | undefined;
}

/** Rows of one kind with the columns of that kind. */
export function listed<T extends Row>(
  rows: readonly T[],
  columns: readonly Column<T>[],
  { isNewest = false, clocks = [], remarkOf = () => undefined }: ListTraits<T> = {},
): Listed {
  // Whoever reads them gives its columns nothing but its rows.
  return { rows, columns: columns as readonly Column<Row>[], isNewest, clocks, remarkOf: remarkOf as Listed["remarkOf"] };
}

export interface Watched {
  read(): Promise<Listed>;
  /** What is printed for an empty list at the start. */
  readonly emptyText: string;
}

const WATCH_EVERY_MS = 2_000;
/** A list that takes long to read is read less often: for at least so many times what reading it took, nothing is asked. */
const REST_FACTOR = 4;

/** Prints a list, then each row again that changes, until somebody interrupts that; returns the exit code. */
export async function watchList(
  { read, emptyText }: Watched,
  output: OutputFormat,
  terminal: Terminal,
  everyMs = WATCH_EVERY_MS,
): Promise<number> {
  const signal = terminal.interrupted();
  const tell = (line: string): void => terminal.note(line);
  let restMs = everyMs;
  const timed = async (): Promise<Listed> => {
    const began = performance.now();
    const seen = await read();
    restMs = Math.max(everyMs, REST_FACTOR * (performance.now() - began));
    return seen;
  };
  const first = await unlessInterrupted(timed(), signal);
  if (first === undefined) return interruptedCode(signal);
  if (first.rows.length === 0 && !isForPrograms(output)) tell(emptyText);
  // Nobody waits for the end of a list: however long the server is away, it is asked again.
  await follow(first, () => observe(timed, { tell, signal, timeoutMs: Infinity }), {
    everyMs: () => restMs,
    signal,
    show: createPrinter(output, terminal),
    isEnd: () => false,
  });
  return interruptedCode(signal);
}

/** What a row looks like, but for what only time changes. */
function contentOf(row: Row, { columns, clocks }: Listed, output: OutputFormat): string {
  if (isForPrograms(output)) return JSON.stringify(row, (key, value: unknown) => (clocks.includes(key) ? undefined : value));
  const lasting = shownOf(columns, output).filter(({ isClock }) => isClock !== true);
  return JSON.stringify(cellsOf(row, lasting));
}

interface Change {
  /** New, or not as they were, in the order of the list. */
  readonly changed: readonly Row[];
  /** Listed before, as they were then. */
  readonly gone: readonly Row[];
}

/** Says of each list what is different from the one before; of the first, that everything is new. */
function createChanges(output: OutputFormat): (list: Listed) => Change {
  let before: ReadonlyMap<string, { readonly row: Row; readonly content: string }> = new Map();
  return (list) => {
    const now = new Map(list.rows.map((row) => [row.id, { row, content: contentOf(row, list, output) }]));
    const changed = [...now.values()].filter(({ row, content }) => before.get(row.id)?.content !== content).map(({ row }) => row);
    const gone = list.isNewest ? [] : [...before.values()].filter(({ row }) => !now.has(row.id)).map(({ row }) => row);
    before = now;
    return { changed, gone };
  };
}

function createPrinter(output: OutputFormat, terminal: Pick<Terminal, "write" | "note">): (list: Listed) => void {
  const changesOf = createChanges(output);
  if (isForPrograms(output)) {
    const write = (row: object): void => terminal.write(output === "json" ? JSON.stringify(row) : `---\n${stringify(row).trimEnd()}`);
    return (list) => {
      const { changed, gone } = changesOf(list);
      for (const row of changed) write(row);
      for (const row of gone) write({ ...row, isListed: false });
    };
  }
  let table: Table<Row> | undefined;
  return (list) => {
    const { changed, gone } = changesOf(list);
    if (table === undefined) {
      table = tableOf(list.rows, list.columns, output);
      terminal.write(table.text);
    } else {
      const { fits } = table;
      if (!changed.every((row) => fits(row))) {
        table = tableOf(list.rows, list.columns, output);
        terminal.write(table.text.split("\n")[0] ?? "");
      }
      for (const row of changed) terminal.write(table.line(row));
    }
    for (const row of gone) terminal.note(`not listed any more: ${nameOfRow(row, list, output)}`);
    const remark = output === "table" ? list.remarkOf(changed) : undefined;
    if (remark !== undefined) terminal.note(remark);
  };
}

/** Its first columns up to the last that is a name: `shop web`. */
function nameOfRow(row: Row, { columns }: Listed, output: "table" | "wide"): string {
  const names = shownOf(columns, output).filter(({ fit }) => fit === "name");
  return names.length === 0 ? row.id : cellText(cellsOf(row, names.slice(0, 2)).join(" "));
}
