import type { Millis } from "../../../domain/clock.ts";

/**
 * A text that PostgreSQL takes: it has no U+0000, and one such character of a stranger's would fail a whole batch. (Documents
 * in `json` columns need no such care to be kept: there it stands escaped. Whoever reads in them with operators wants
 * {@link readable}.)
 */
export function sqlText(value: string): string {
  return value.includes("\0") ? value.replaceAll("\0", "\u{fffd}") : value;
}

/**
 * Expression for a `json` column whose content is a stranger's, to be searched: `->` refuses a whole document for one U+0000
 * or half a surrogate pair anywhere in it. Few documents have escapes of that kind at all.
 */
export function readable(column: string): string {
  const mended = `regexp_replace(${column}::text, '\\\\u(0000|[dD][89a-fA-F][0-9a-fA-F]{2})', '\\\\ufffd', 'g')::json`;
  return `(case when strpos(${column}::text, '\\u') > 0 then ${mended} else ${column} end)`;
}

/** Whether an application, by its alias, is of a repository; the index `application_by_repository` has URLs by their hash. */
export function isSameRepository(application: string, url: string): string {
  return `md5(${application}.repo_url) = md5(${url}) and ${application}.repo_url = ${url}`;
}

/** An array parameter of texts, to be unnested; absent entries become null. */
export function texts(values: readonly (string | undefined)[]): string {
  return `{${values.map((value) => (value === undefined ? "null" : `"${sqlText(value).replace(/["\\]/g, "\\$&")}"`)).join(",")}}`;
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
