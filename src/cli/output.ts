import { stringify } from "yaml";
import { type Column, createTable, LINE_WIDTH, type Table } from "./table.ts";

export type OutputFormat = "table" | "wide" | "json" | "yaml";

/** Whether a program reads it, which wants every field and no sentence. */
export function isForPrograms(format: OutputFormat): format is "json" | "yaml" {
  return format === "json" || format === "yaml";
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
      return tableOf(rows, columns, format).text;
    default:
      return format satisfies never;
  }
}

/** The table that people see. */
export function tableOf<Row>(rows: readonly Row[], columns: readonly Column<Row>[], format: "table" | "wide"): Table<Row> {
  return createTable(rows, shownOf(columns, format), format === "wide" ? Infinity : LINE_WIDTH);
}

/** The columns of that table. */
export function shownOf<Row>(columns: readonly Column<Row>[], format: "table" | "wide"): readonly Column<Row>[] {
  return format === "wide" ? columns : columns.filter(({ isWide }) => isWide !== true);
}

/** One thing as `name: value` lines, or as JSON or YAML. */
export function renderOne(value: Readonly<Record<string, unknown>>, format: OutputFormat): string {
  return format === "json" ? JSON.stringify(value, null, 2) : stringify(value, { lineWidth: 0 }).trimEnd();
}
