import type { JsonPatchOperation } from "../client.ts";
import type { Json } from "./json.ts";
import { cloneJson, equalJson, isMap } from "./json.ts";

/**
 * Applies a JSON patch (RFC 6902) the way kube-apiserver 1.35 does it, including where that is laxer than the standard: `replace` also
 * sets a key that is not there, `test` with null holds for one. `undefined` means that the patch does not apply.
 */
export function applyJsonPatch(document: Json, patch: readonly JsonPatchOperation[]): Json | undefined {
  const result = cloneJson(document);
  return patch.every((operation) => applyOperation(result, operation)) ? result : undefined;
}

function applyOperation(root: Json, operation: JsonPatchOperation): boolean {
  const path = operation.path
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  const key = path.pop();
  if (key === undefined) return false;
  const parent = path.reduce<Json | undefined>(childOf, root);
  if (parent === undefined || typeof parent !== "object" || parent === null) return false;
  const value = (operation.value ?? null) as Json;
  switch (operation.op) {
    case "test":
      return equalJson(childOf(parent, key) ?? null, value);
    case "add":
      return Array.isArray(parent) ? insert(parent, { key, value }) : set(parent, { key, value });
    case "replace":
      return Array.isArray(parent) ? key in parent && set(parent, { key, value }) : set(parent, { key, value });
    case "remove":
      return remove(parent, key);
    default:
      return false;
  }
}

function childOf(parent: Json | undefined, key: string): Json | undefined {
  if (Array.isArray(parent)) return parent[Number(key)];
  return isMap(parent) && Object.hasOwn(parent, key) ? parent[key] : undefined;
}

function set(parent: Json, entry: { readonly key: string; readonly value: Json }): boolean {
  if (entry.key === "__proto__") return false;
  Object.assign(parent as object, { [entry.key]: entry.value });
  return true;
}

function insert(list: Json[], entry: { readonly key: string; readonly value: Json }): boolean {
  const index = entry.key === "-" ? list.length : Number(entry.key);
  if (!Number.isInteger(index) || index < 0 || index > list.length) return false;
  list.splice(index, 0, entry.value);
  return true;
}

function remove(parent: Json, key: string): boolean {
  if (childOf(parent, key) === undefined) return false;
  if (Array.isArray(parent)) parent.splice(Number(key), 1);
  else if (isMap(parent)) delete parent[key];
  return true;
}
