import { z } from "zod";
import { type JsonSchema, listFields, type SchemaField } from "../domain/schema-field.ts";
import { configSchema } from "./schema.ts";

/** Every field and section of the configuration file in its order; the whole document first, with an empty path. */
export const fields: readonly SchemaField[] = listFields(z.toJSONSchema(configSchema, { io: "input" }) as JsonSchema);

/** The field at a path of a document, where numbers are elements of lists. */
export function fieldAt(path: readonly PropertyKey[]): SchemaField | undefined {
  const text = pathText(path.map((part) => (typeof part === "number" ? -1 : part)));
  return fields.find((field) => field.path === text) ?? fields.find((field) => `${field.path}[]` === text);
}

/** `a.b[0].c`; −1 stands for any element. */
export function pathText(path: readonly PropertyKey[]): string {
  let text = "";
  for (const part of path) text += typeof part === "number" ? `[${part < 0 ? "" : part}]` : `${text === "" ? "" : "."}${String(part)}`;
  return text;
}
