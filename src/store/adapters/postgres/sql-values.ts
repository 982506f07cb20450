import type { Millis } from "../../../domain/clock.ts";

/**
 * A text that PostgreSQL takes: it has no U+0000, and one such character of a stranger's would fail a whole batch. (Documents
 * in `json` columns need no such care: there it stands escaped.)
 */
export function text(value: string): string {
  return value.includes("\0") ? value.replaceAll("\0", "\u{fffd}") : value;
}

/** An array parameter of texts, to be unnested; absent entries become null. */
export function texts(values: readonly (string | undefined)[]): string {
  return `{${values.map((value) => (value === undefined ? "null" : `"${text(value).replace(/["\\]/g, "\\$&")}"`)).join(",")}}`;
}

export function numbers(values: readonly (number | undefined)[]): string {
  return `{${values.map((value) => value ?? "null").join(",")}}`;
}

export function instants(values: readonly (Millis | undefined)[]): string {
  return `{${values.map((value) => (value === undefined ? "null" : instant(value))).join(",")}}`;
}

export function instant(at: Millis): string {
  return new Date(at).toISOString();
}

/**
 * A batch in the order in which everybody locks, that of the database: two that overlap then wait for each other instead of
 * for ever. A key of several parts is compared part by part.
 */
export function sortedBy<Row>(rows: readonly Row[], ...parts: readonly ((row: Row) => string)[]): readonly Row[] {
  return rows.toSorted((a, b) => {
    const part = parts.find((read) => read(a) !== read(b));
    return part === undefined ? 0 : part(a) < part(b) ? -1 : 1;
  });
}
