export type Json = string | number | boolean | null | Json[] | JsonMap;
export type JsonMap = { [key: string]: Json };

export function isMap(value: unknown): value is JsonMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function cloneJson<T extends Json>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => cloneJson(each)) as T;
  const copy: JsonMap = {};
  for (const key of Object.keys(value)) copy[key] = cloneJson(value[key] as Json);
  return copy as T;
}

/** The map at `key`, or an empty one that is not attached to anything. */
export function mapAt(parent: JsonMap, key: string): JsonMap {
  const value = parent[key];
  return isMap(value) ? value : {};
}

/** JSON merge patch, RFC 7386. */
export function mergePatch(target: Json, patch: Json): Json {
  if (!isMap(patch)) return cloneJson(patch);
  const result: JsonMap = isMap(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = mergePatch(result[key] ?? null, value);
  }
  return result;
}
