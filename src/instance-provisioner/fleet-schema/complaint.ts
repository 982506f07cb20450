import { nearest } from "../../domain/nearest.ts";
import type { JsonSchema } from "../../domain/schema-field.ts";
import type { ShapeIssue } from "./schema.ts";
import { FLEET_SCHEMA } from "./schema.ts";

/** What is wrong in a Fleet document, where, and what to do about it. It never repeats a value. */
export interface Complaint {
  /** Like `pools[0].capacity.milliCpu`; "" is the whole document. */
  readonly path: string;
  readonly message: string;
  readonly remedy: string;
}

export function fleetPathText(path: readonly (string | number)[]): string {
  return path.reduce<string>((text, key) => (typeof key === "number" ? `${text}[${key}]` : text === "" ? key : `${text}.${key}`), "");
}

/** Turns an issue about the form of a field into words. */
export function complaintOf({ path, kind, bound }: ShapeIssue): Complaint {
  const form = formOf(nodeAt(path));
  switch (kind) {
    case "missing":
      return { path: fleetPathText(path), message: "is missing", remedy: `Give ${form}` };
    case "unknown":
      return unknownField(path);
    case "too small":
      return { path: fleetPathText(path), message: `is less than ${bound}`, remedy: `Give at least ${bound}` };
    case "too large":
      return { path: fleetPathText(path), message: `is more than ${bound}`, remedy: `Give at most ${bound}` };
    case "malformed":
      return { path: fleetPathText(path), message: `is not ${form}`, remedy: `Give ${form}` };
  }
}

function unknownField(path: readonly (string | number)[]): Complaint {
  const siblings = Object.keys(nodeAt(path.slice(0, -1))?.properties ?? {});
  const meant = nearest(String(path.at(-1)), siblings);
  const remedy =
    meant === undefined
      ? `Remove it, or use one of ${siblings.join(", ")}`
      : `Did you mean ${fleetPathText([...path.slice(0, -1), meant])}?`;
  return { path: fleetPathText(path), message: "is no field of a Fleet", remedy };
}

function nodeAt(path: readonly (string | number)[]): JsonSchema | undefined {
  return path.reduce<JsonSchema | undefined>(
    (node, key) => (typeof key === "number" ? node?.items : node?.properties?.[key]),
    FLEET_SCHEMA,
  );
}

const FORMS: Readonly<Record<string, string>> = {
  integer: "a whole number",
  number: "a number",
  string: "a text",
  boolean: "true or false",
  array: "a list",
  object: "a group of fields",
};

function formOf(node: JsonSchema | undefined): string {
  return (
    node?.title ?? (typeof node?.const === "string" ? node.const : undefined) ?? FORMS[node?.type ?? ""] ?? "a value of the right form"
  );
}
