import type { Json, JsonMap } from "./json.ts";
import { cloneJson, equalJson, isMap } from "./json.ts";

/** Which leaf fields each manager has applied; a leaf is a scalar, a list or an empty map, written as its JSON-encoded path. */
export type FieldOwners = ReadonlyMap<string, ReadonlySet<string>>;

export interface Applied {
  readonly object: JsonMap;
  readonly owners: FieldOwners;
  /** Paths that another manager has applied with a different value. */
  readonly conflicts: readonly string[];
}

/**
 * Server-side apply without schemas: maps are merged, lists are replaced whole (as in custom resources that declare no list type), finalizers
 * are a set. Fields this manager applied before and leaves out now are removed unless another manager has applied them too.
 */
export function applyConfiguration(
  live: JsonMap,
  configuration: JsonMap,
  options: { readonly manager: string; readonly owners: FieldOwners },
): Applied {
  const { manager, owners } = options;
  const target = openFinalizers(live);
  const wanted = new Map(leavesOf(openFinalizers(configuration)).filter(([path]) => isApplied(path)));
  const others = [...owners].filter(([name]) => name !== manager);
  const isOwnedElsewhere = (path: string) => others.some(([, paths]) => paths.has(path));
  const conflicts = [...wanted]
    .filter(([path, value]) => isOwnedElsewhere(path) && !equalJson(valueAt(target, path), value))
    .map(([path]) => path);
  for (const path of owners.get(manager) ?? [])
    if (!wanted.has(path) && !isOwnedElsewhere(path)) removeAt(target, JSON.parse(path) as string[]);
  for (const [path, value] of wanted) setAt(target, JSON.parse(path) as string[], value);
  const lost = new Set(conflicts);
  const kept = others.map(([name, paths]) => [name, new Set([...paths].filter((path) => !lost.has(path)))] as const);
  return { object: closeFinalizers(target), owners: new Map([...kept, [manager, new Set(wanted.keys())]]), conflicts };
}

/** Who owns what after a write that was not an apply: a field it changed or removed belongs to no applier any more. */
export function ownersAfterUpdate(owners: FieldOwners, before: JsonMap, after: JsonMap): FieldOwners {
  if (owners.size === 0) return owners;
  const [was, is] = [openFinalizers(before), openFinalizers(after)];
  const isUntouched = (path: string) => equalJson(valueAt(was, path), valueAt(is, path));
  return new Map([...owners].map(([name, paths]) => [name, new Set([...paths].filter(isUntouched))]));
}

/** Identity and what the server fills in is not anybody's field. */
function isApplied(path: string): boolean {
  const [first, second] = JSON.parse(path) as string[];
  return first === "metadata"
    ? ["labels", "annotations", "finalizers", "ownerReferences"].includes(second ?? "")
    : first !== "apiVersion" && first !== "kind";
}

function leavesOf(value: Json, path: readonly string[] = []): [string, Json][] {
  if (!isMap(value) || (Object.keys(value).length === 0 && path.length > 0)) return [[JSON.stringify(path), value]];
  return Object.entries(value).flatMap(([key, child]) => leavesOf(child, [...path, key]));
}

function valueAt(root: JsonMap, path: string): Json | undefined {
  return (JSON.parse(path) as string[]).reduce<Json | undefined>((parent, key) => (isMap(parent) ? parent[key] : undefined), root);
}

function setAt(root: JsonMap, path: readonly string[], value: Json): void {
  let parent = root;
  for (const key of path.slice(0, -1)) {
    const child = parent[key];
    const next = isMap(child) ? child : {};
    parent[key] = next;
    parent = next;
  }
  const last = path.at(-1);
  // An applied empty map claims the map, not its emptiness.
  if (last !== undefined && !(isMap(value) && isMap(parent[last]))) parent[last] = cloneJson(value);
}

/** Removes the field and the maps that become empty by that. */
function removeAt(root: JsonMap, path: readonly string[]): void {
  const [key, ...rest] = path;
  if (key === undefined) return;
  const child = root[key];
  if (rest.length === 0) delete root[key];
  else if (isMap(child)) {
    removeAt(child, rest);
    if (Object.keys(child).length === 0) delete root[key];
  }
}

/** Finalizers as a map, so that they merge like one. */
function openFinalizers(object: JsonMap): JsonMap {
  const copy = cloneJson(object);
  const metadata = copy["metadata"];
  if (isMap(metadata) && Array.isArray(metadata["finalizers"]))
    metadata["finalizers"] = Object.fromEntries(metadata["finalizers"].map((each) => [String(each), true]));
  return copy;
}

function closeFinalizers(object: JsonMap): JsonMap {
  const metadata = object["metadata"];
  if (isMap(metadata) && isMap(metadata["finalizers"])) {
    const names = Object.keys(metadata["finalizers"]);
    if (names.length === 0) delete metadata["finalizers"];
    else metadata["finalizers"] = names;
  }
  return object;
}
