import type { KubeObject, ObjectName } from "./resource.ts";

export type ReflectorChange<T> =
  | { readonly kind: "upsert"; readonly at: ObjectName; readonly now: T; readonly before: T | undefined }
  | { readonly kind: "delete"; readonly at: ObjectName; readonly before: T };

interface Entry<T> {
  readonly at: ObjectName;
  readonly resourceVersion: string;
  /** `undefined`: seen, and left out by the projection. */
  readonly value: T | undefined;
}

export interface ObjectCache<T> {
  /**
   * What changed by this object, `undefined` if nothing did. Throws what `project` throws; the entry then stays as it was. `project` gets what it
   * made of the object before.
   */
  put(object: KubeObject, project: (object: KubeObject, before: T | undefined) => T | undefined): ReflectorChange<T> | undefined;
  remove(at: ObjectName): ReflectorChange<T> | undefined;
  get(at: ObjectName): T | undefined;
  /** In the order of their keys. */
  list(namespace?: string): readonly T[];
  /** Names of everything seen whose key is not among `kept`. */
  namesExcept(kept: ReadonlySet<string>): readonly ObjectName[];
  key(at: ObjectName): string;
  /** Objects shown, without those the projection left out. */
  size(): number;
}

/** The entries of one namespace. */
interface NamespaceEntries<T> {
  readonly byName: Map<string, Entry<T>>;
  // Sorting takes longer than most changes do; names come and go far less often than objects change.
  sorted: readonly string[] | undefined;
}

/**
 * Projected objects by namespace and name, so that what a namespace has is listed at the cost of that namespace: thousands of instances and units
 * ask for their own. Keys are `cluster|namespace|name`, so that objects of several clusters can never be mixed up.
 */
export function createObjectCache<T>(cluster: string): ObjectCache<T> {
  const namespaces = new Map<string, NamespaceEntries<T>>();
  let sortedNamespaces: readonly string[] | undefined;
  let shown = 0;

  const find = ({ namespace, name }: ObjectName): Entry<T> | undefined => namespaces.get(namespace)?.byName.get(name);

  const entriesOf = (namespace: string): NamespaceEntries<T> => {
    const known = namespaces.get(namespace);
    if (known !== undefined) return known;
    const added: NamespaceEntries<T> = { byName: new Map(), sorted: undefined };
    namespaces.set(namespace, added);
    sortedNamespaces = undefined;
    return added;
  };

  const set = (entry: Entry<T>, before: Entry<T> | undefined): void => {
    const entries = entriesOf(entry.at.namespace);
    entries.byName.set(entry.at.name, entry);
    if (before === undefined) entries.sorted = undefined;
    shown += Number(entry.value !== undefined) - Number(before?.value !== undefined);
  };

  const forget = ({ namespace, name }: ObjectName): void => {
    const entries = namespaces.get(namespace);
    if (entries?.byName.delete(name) !== true) return;
    entries.sorted = undefined;
    if (entries.byName.size > 0) return;
    namespaces.delete(namespace);
    sortedNamespaces = undefined;
  };

  const listOf = (namespace: string): readonly T[] => {
    const entries = namespaces.get(namespace);
    if (entries === undefined) return [];
    entries.sorted ??= [...entries.byName.keys()].sort();
    return entries.sorted.map((name) => entries.byName.get(name)?.value).filter((value) => value !== undefined);
  };

  /** Keys are compared, in which `|` ends a namespace: of `a` and `a-b` the longer one comes first. */
  const listAll = (): readonly T[] => {
    sortedNamespaces ??= [...namespaces.keys()].sort((a, b) => (`${a}|` < `${b}|` ? -1 : 1));
    return sortedNamespaces.flatMap(listOf);
  };

  const key = (at: ObjectName): string => `${cluster}|${at.namespace}|${at.name}`;

  return {
    key,
    put(object, project) {
      const at = objectNameOf(object);
      const before = find(at);
      const { resourceVersion = "" } = object.metadata;
      if (before !== undefined && resourceVersion !== "" && before.resourceVersion === resourceVersion) return undefined;
      const value = project(object, before?.value);
      set({ at, resourceVersion, value }, before);
      if (value !== undefined) return { kind: "upsert", at, now: value, before: before?.value };
      return before?.value === undefined ? undefined : { kind: "delete", at, before: before.value };
    },
    remove(at) {
      const before = find(at);
      forget(at);
      if (before?.value === undefined) return undefined;
      shown--;
      return { kind: "delete", at, before: before.value };
    },
    get: (at) => find(at)?.value,
    list: (namespace) => (namespace === undefined ? listAll() : listOf(namespace)),
    namesExcept: (kept) => {
      const names = [...namespaces.values()].flatMap(({ byName }) => [...byName.values()].map(({ at }) => at));
      return names.filter((at) => !kept.has(key(at)));
    },
    size: () => shown,
  };
}

export function objectNameOf(object: KubeObject): ObjectName {
  return { namespace: object.metadata.namespace ?? "", name: object.metadata.name };
}
