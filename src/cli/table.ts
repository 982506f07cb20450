/** What terminals have had for fifty years, and what half of one has today. */
export const LINE_WIDTH = 80;
/** Between two columns. */
const GAP = 2;
/** A name that is cut shorter tells nothing. */
const LEAST_NAME = 10;
/** A sentence in fewer columns is read worse than one below its row. */
const LEAST_TEXT = 30;
const BELOW = "    ";

/**
 * What users wrote may hold line breaks, which would break the table, and control characters or changes of direction, with
 * which text can pretend to be something else in a terminal.
 */
export function cellText(value: string | number | null): string {
  return String(value ?? "-").replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu, " ");
}

export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => string | number | null;
  /** Shown only with -o wide. */
  readonly isWide?: boolean;
  /** It changes as time goes by, and tells of no change of its row: an age. */
  readonly isClock?: boolean;
  /** What a table does with it where a line would be wider than a terminal: shorten a name in its middle, or wrap the sentence of the last column. */
  readonly fit?: "name" | "text";
}

/** Rows as text, and how further rows of the same table are written below it, as `get --watch` does. */
export interface Table<Row> {
  readonly text: string;
  /** Lines of one row, in the columns that the table has. */
  line(row: Row): string;
  /** Whether all of the row can be read in these columns. */
  fits(row: Row): boolean;
}

/**
 * Lays a table out within a width. What is too wide is made to fit: names lose their middle, the widest first, and the last column's sentence is wrapped, in its
 * column where that leaves room for words, else below its row.
 */
export function createTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[], width: number): Table<Row> {
  const head = columns.map(({ title }) => title);
  const cells = rows.map((row) => cellsOf(row, columns));
  const natural = columns.map((_column, index) =>
    [head, ...cells].reduce((widest, line) => Math.max(widest, (line[index] ?? "").length), 0),
  );
  const text = columns.at(-1)?.fit === "text" ? columns.length - 1 : undefined;
  const names = natural.slice(0, text);
  const fixed = namesWithin(names, columns, width);
  const left = width - sum(fixed) - GAP * fixed.length;
  const isBelow = text !== undefined && (natural[text] ?? 0) > left && left < LEAST_TEXT;
  const layout: Layout = { fixed, text: text === undefined ? undefined : isBelow ? "below" : left };
  const lines = [layout.text === "below" ? head.slice(0, -1) : head, ...cells].map((line) => lineOf(line, layout, width));
  const fitsIn = (cell: string, index: number): boolean => {
    if (index === text) return layout.text === "below" || cell.length <= left || left >= LEAST_TEXT;
    // What was shortened is shortened again; there is no room for more of it.
    return cell.length <= (fixed[index] ?? 0) || (fixed[index] ?? 0) < (names[index] ?? 0);
  };
  return {
    text: lines.join("\n"),
    line: (row) => lineOf(cellsOf(row, columns), layout, width),
    fits: (row) => cellsOf(row, columns).every(fitsIn),
  };
}

interface Layout {
  /** Widths of all columns but the sentence. */
  readonly fixed: readonly number[];
  /** Columns that the sentence has; absent: there is none. */
  readonly text: number | "below" | undefined;
}

/** What is shown of a row, by its columns. */
export function cellsOf<Row>(row: Row, columns: readonly Column<Row>[]): readonly string[] {
  return columns.map((column) => cellText(column.value(row)));
}

/** Widths of columns that leave a sentence nothing or more: the widest name gives way first. */
function namesWithin<Row>(natural: readonly number[], columns: readonly Column<Row>[], width: number): readonly number[] {
  const widths = [...natural];
  for (let over = sum(widths) + GAP * (widths.length - 1) - width; over > 0; over -= 1) {
    const widest = columns.reduce<number | undefined>((found, { fit, title }, index) => {
      const own = widths[index] ?? 0;
      const mayShrink = index < widths.length && fit === "name" && own > Math.max(LEAST_NAME, title.length);
      return mayShrink && own > (found === undefined ? 0 : (widths[found] ?? 0)) ? index : found;
    }, undefined);
    if (widest === undefined) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

function lineOf(cells: readonly string[], { fixed, text }: Layout, width: number): string {
  const row = fixed.map((own, index) => shortened(cells[index] ?? "", own).padEnd(own + GAP)).join("");
  const sentence = text === undefined ? undefined : cells[fixed.length];
  if (sentence === undefined) return row.trimEnd();
  if (text === "below") {
    const lines = sentence === "-" || sentence === "" ? [] : wrapped(sentence, width - BELOW.length).map((line) => BELOW + line);
    return [row.trimEnd(), ...lines].join("\n");
  }
  const indent = " ".repeat(row.length);
  return wrapped(sentence, Number(text))
    .map((line, index) => `${index === 0 ? row : indent}${line}`.trimEnd())
    .join("\n");
}

/** `shop-of-many-words` in 11 columns: `shop-…words`. What comes last often tells names apart. */
export function shortened(text: string, width: number): string {
  if (text.length <= width) return text;
  const end = Math.floor((width - 1) / 2);
  return `${text.slice(0, width - 1 - end)}…${end === 0 ? "" : text.slice(-end)}`;
}

/** Words, and what stands between backticks as one of them: it is to be copied. */
const WORDS = /`[^`]*`\S*|\S+/g;

/** A sentence in lines of at most so many columns. A word that is longer is cut. */
export function wrapped(text: string, width: number): readonly string[] {
  if (text.length <= width) return [text];
  const lines: string[] = [""];
  for (const word of text.match(WORDS) ?? []) {
    const line = lines.at(-1) ?? "";
    const longer = line === "" ? word : `${line} ${word}`;
    if (longer.length <= width) lines[lines.length - 1] = longer;
    else lines.push(...pieces(word, width));
  }
  return lines.filter((line) => line !== "");
}

function pieces(word: string, width: number): readonly string[] {
  return Array.from({ length: Math.ceil(word.length / width) }, (_, index) => word.slice(index * width, (index + 1) * width));
}

/** A line of a text for people, within a terminal's width: what does not fit goes on below, two columns further in. */
export function paragraph(line: string): string {
  const indent = /^ */.exec(line)?.[0] ?? "";
  const lines = wrapped(cellText(line.trimStart()), LINE_WIDTH - indent.length - 2);
  const isOne = indent.length + cellText(line.trimStart()).length <= LINE_WIDTH;
  return isOne ? indent + cellText(line.trimStart()) : lines.map((each, index) => `${indent}${index === 0 ? "" : "  "}${each}`).join("\n");
}

/** A text for people, each of its lines as a paragraph. A line with a pointer below it stays as it is, or the pointer would point elsewhere. */
export function sentences(text: string): string {
  const lines = text.split("\n");
  const isPointer = (line: string | undefined): boolean => line !== undefined && /^ *\^+$/.test(line);
  return lines.map((line, index) => (isPointer(line) || isPointer(lines[index + 1]) ? line : paragraph(line))).join("\n");
}

/** The same for a log, or the status of a pod, which is searched by lines: each stays one. */
export function logLines(text: string): string {
  return text.split("\n").map(cellText).join("\n");
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
