type Cell = string | number | null;

/** What a spreadsheet would take for a formula, although it came as text. */
const FORMULA = /^[=+\-@\t\r]/;

/** Rows of the same fields as comma-separated values (RFC 4180) with a line of their names, for spreadsheets and programs. Ends without a line break. */
export function csvOf<Row extends Readonly<Record<string, Cell>>>(rows: readonly Row[], fields: readonly (keyof Row & string)[]): string {
  const lines = rows.map((row) => fields.map((field) => cellOf(row[field] ?? null)));
  return [fields, ...lines].map((cells) => cells.join(",")).join("\r\n");
}

function cellOf(value: Cell): string {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
