import type { SchemaNotes } from "../../api/parts/schema.ts";
import type { CrdSchema } from "../../api/schema.ts";
import { MARK } from "./texts.ts";

/** What speaks against showing a status to its user; empty: nothing. */
export function whyUnfit(schema: CrdSchema, status: unknown): readonly string[] {
  // As it comes back from an API server.
  const stored: unknown = JSON.parse(JSON.stringify(status));
  return [...violations(schema, stored, "status"), ...improprieties(JSON.stringify(stored))];
}

/** Secrets and what only terminals and lines understand, in anything that somebody reads. */
export function improprieties(text: string): readonly string[] {
  const found: readonly (readonly [string, boolean])[] = [
    ["a secret", text.includes(MARK) || text.includes(Buffer.from(MARK).toString("base64").slice(0, 16))],
    ["half a character", !text.isWellFormed() || /\\ud[89a-f][0-9a-f]{2}/i.test(text)],
    // JSON writes them like that.
    ["a control character", /\\u00[01][0-9a-f]|\\[bfnrt]|[\u007f-\u009f]/i.test(text.replaceAll("\\\\", ""))],
  ];
  return found.flatMap(([what, isThere]) => (isThere ? [`holds ${what}: ${text.slice(0, 500)}`] : []));
}

/** What an API server would say: types, lengths, patterns, fields it would drop. */
function violations(schema: CrdSchema, value: unknown, path: string): readonly string[] {
  switch (schema["type"]) {
    case "object":
      return objectViolations(schema, value, path);
    case "array":
      if (!Array.isArray(value)) return [`${path} is no list`];
      return value.flatMap((each, index) => violations(schema["items"] as CrdSchema, each, `${path}[${index}]`));
    case "string":
      return textViolations(schema, value, path);
    case "integer":
      return Number.isSafeInteger(value) && (value as number) >= 0 ? [] : [`${path} is no count`];
    default:
      return typeof value === schema["type"] ? [] : [`${path} is no ${String(schema["type"])}`];
  }
}

function objectViolations(schema: CrdSchema, value: unknown, path: string): readonly string[] {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return [`${path} is no object`];
  if ((schema as SchemaNotes).preserveUnknown === true) return [];
  const properties = (schema["properties"] ?? {}) as Readonly<Record<string, CrdSchema>>;
  const missing = ((schema["required"] ?? []) as readonly string[]).filter((name) => !Object.hasOwn(value, name));
  return [
    ...missing.map((name) => `${path}.${name} is missing`),
    ...Object.entries(value).flatMap(([name, each]) => {
      const property = properties[name];
      return property === undefined ? [`${path}.${name} is unknown`] : violations(property, each, `${path}.${name}`);
    }),
  ];
}

function textViolations(schema: CrdSchema, value: unknown, path: string): readonly string[] {
  if (typeof value !== "string") return [`${path} is no text`];
  const longest = (schema["maxLength"] ?? Number.POSITIVE_INFINITY) as number;
  if ([...value].length > longest) return [`${path} is longer than ${longest}`];
  return typeof schema["pattern"] === "string" && !new RegExp(schema["pattern"]).test(value)
    ? [`${path} is not like ${schema["pattern"]}`]
    : [];
}
