import { stringify } from "yaml";

export type OutputFormat = "table" | "wide" | "json" | "yaml";

/** Whether a program reads it, which wants every field and no sentence. */
export function isForPrograms(format: OutputFormat): format is "json" | "yaml" {
  return format === "json" || format === "yaml";
}

export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => string | number | null;
  /** Shown only with -o wide. */
  readonly isWide?: boolean;
}

/** Renders rows as the caller asked for: machines get everything, people the columns. Ends without a line break. */
export function render<Row>(rows: readonly Row[], columns: readonly Column<Row>[], format: OutputFormat): string {
  switch (format) {
    case "json":
      return JSON.stringify(rows, null, 2);
    case "yaml":
      return stringify(rows).trimEnd();
    case "table":
    case "wide":
      return table(
        rows,
        columns.filter((column) => format === "wide" || column.isWide !== true),
      );
    default:
      return format satisfies never;
  }
}

function table<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  const cells = [columns.map(({ title }) => title), ...rows.map((row) => columns.map((column) => cellText(column.value(row))))];
  const widths = columns.map((_column, index) => cells.reduce((widest, line) => Math.max(widest, (line[index] ?? "").length), 0));
  return cells
    .map((line) =>
      line
        .map((cell, index) => cell.padEnd((widths[index] ?? 0) + 2))
        .join("")
        .trimEnd(),
    )
    .join("\n");
}

/**
 * What users wrote may hold line breaks, which would break the table, and control characters or changes of direction, with
 * which text can pretend to be something else in a terminal.
 */
export function cellText(value: string | number | null): string {
  return String(value ?? "-").replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu, " ");
}

/** One thing as `name: value` lines, or as JSON or YAML. */
export function renderOne(value: Readonly<Record<string, unknown>>, format: OutputFormat): string {
  return format === "json" ? JSON.stringify(value, null, 2) : stringify(value, { lineWidth: 0 }).trimEnd();
}
