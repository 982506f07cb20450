import { z } from "zod";
import { configSchema } from "./schema.ts";

/** One field of the configuration file, as its schema describes it. `[]` in a path stands for any element of a list. */
export interface Field {
  readonly path: string;
  /** In words: `a whole number from 1 to 65535`. */
  readonly type: string;
  /** As it would be written in the file; `undefined` when there is none. */
  readonly defaultText: string | undefined;
  readonly meaning: string;
  /** The names of the fields inside, when it is a section. */
  readonly children: readonly string[];
}

interface JsonSchema {
  readonly type?: string;
  readonly title?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** Every field and section in the order of the file; the whole document first, with an empty path. */
export const fields: readonly Field[] = list(z.toJSONSchema(configSchema, { io: "input" }) as JsonSchema, "");

function list(schema: JsonSchema, path: string): readonly Field[] {
  const { properties = {} } = schema;
  const inside = Object.entries(properties).flatMap(([name, child]) => list(child, path === "" ? name : `${path}.${name}`));
  const element = schema.items?.properties === undefined ? [] : list(schema.items, `${path}[]`);
  const { default: fallback, description } = schema;
  const field: Field = {
    path,
    type: describe(schema),
    defaultText: fallback === undefined ? undefined : JSON.stringify(fallback),
    meaning: description ?? "",
    children: Object.keys(properties),
  };
  return [field, ...inside, ...element];
}

function describe(schema: JsonSchema): string {
  if (schema.title !== undefined) return schema.title;
  if (schema.anyOf !== undefined) return schema.anyOf.map(describe).join(", or ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return `one of ${schema.enum.join(", ")}`;
  if (schema.type === "array") return `a list, each ${schema.items === undefined ? "a value" : describe(schema.items)}`;
  if (schema.type === "integer") return `a whole number from ${schema.minimum} to ${schema.maximum}`;
  if (schema.type === "object") return `a section with ${Object.keys(schema.properties ?? {}).join(", ")}`;
  return "text";
}

/** The field at a path of a document, where numbers are elements of lists. */
export function fieldAt(path: readonly PropertyKey[]): Field | undefined {
  const text = pathText(path.map((part) => (typeof part === "number" ? -1 : part)));
  return fields.find((field) => field.path === text) ?? fields.find((field) => `${field.path}[]` === text);
}

/** `a.b[0].c`; −1 stands for any element. */
export function pathText(path: readonly PropertyKey[]): string {
  let text = "";
  for (const part of path) text += typeof part === "number" ? `[${part < 0 ? "" : part}]` : `${text === "" ? "" : "."}${String(part)}`;
  return text;
}
