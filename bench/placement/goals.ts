/** One figure of the table: what was measured, and its goal. */
export interface Figure {
  readonly name: string;
  readonly measured: number;
  readonly goal: number;
  /** Percent, milliseconds, a ratio … */
  readonly unit: string;
  readonly conditions: string;
}

/** Whether a figure meets its goal. A goal of Infinity is only for orientation. */
export function isMet({ measured, goal }: Figure): boolean {
  return measured <= goal;
}

export function lineOf(figure: Figure): readonly string[] {
  const { name, measured, goal, unit, conditions } = figure;
  const verdict = goal === Number.POSITIVE_INFINITY ? "" : isMet(figure) ? "met" : "MISSED";
  return [name, number(measured), goal === Number.POSITIVE_INFINITY ? "-" : `<= ${number(goal)}`, unit, verdict, conditions];
}

/** Rows of text in columns. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

export function number(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(4);
}
