import Table from "cli-table3";
import { stringify } from "yaml";

export const OUTPUT_FORMATS = ["table", "wide", "json", "yaml"] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => string | number | null;
  /** Shown only with -o wide. */
  readonly isWide?: boolean;
}

const NO_LINES = {
  top: "",
  "top-mid": "",
  "top-left": "",
  "top-right": "",
  bottom: "",
  "bottom-mid": "",
  "bottom-left": "",
  "bottom-right": "",
  left: "",
  "left-mid": "",
  mid: "",
  "mid-mid": "",
  right: "",
  "right-mid": "",
  middle: "  ",
};

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
  const grid = new Table({
    chars: NO_LINES,
    style: { "padding-left": 0, "padding-right": 0, head: [], border: [] },
    head: columns.map((c) => c.title),
  });
  for (const row of rows) grid.push(columns.map((column) => String(column.value(row) ?? "-")));
  return grid
    .toString()
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n");
}

/** One thing as `name: value` lines, or as JSON or YAML. */
export function renderOne(value: Readonly<Record<string, unknown>>, format: OutputFormat): string {
  if (format === "json") return JSON.stringify(value, null, 2);
  return stringify(value).trimEnd();
}
