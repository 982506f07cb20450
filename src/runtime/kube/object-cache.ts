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
  /** What changed by this object, `undefined` if nothing did. Throws what `project` throws; the entry then stays as it was. */
  put(object: KubeObject, project: (object: KubeObject) => T | undefined): ReflectorChange<T> | undefined;
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

/** Projected objects by `cluster|namespace|name`, so that objects of several clusters can never be mixed up. */
export function createObjectCache<T>(cluster: string): ObjectCache<T> {
  const entries = new Map<string, Entry<T>>();
  let shown = 0;
  // Sorting tens of thousands of keys takes longer than most changes do; names come and go far less often than objects change.
  let sorted: readonly string[] | undefined;
  const key = (at: ObjectName) => `${cluster}|${at.namespace}|${at.name}`;

  function set(entry: Entry<T>, before: Entry<T> | undefined): void {
    entries.set(key(entry.at), entry);
    if (before === undefined) sorted = undefined;
    shown += Number(entry.value !== undefined) - Number(before?.value !== undefined);
  }

  return {
    key,
    put(object, project) {
      const at = objectNameOf(object);
      const before = entries.get(key(at));
      const { resourceVersion = "" } = object.metadata;
      if (before !== undefined && resourceVersion !== "" && before.resourceVersion === resourceVersion) return undefined;
      const value = project(object);
      set({ at, resourceVersion, value }, before);
      if (value !== undefined) return { kind: "upsert", at, now: value, before: before?.value };
      return before?.value === undefined ? undefined : { kind: "delete", at, before: before.value };
    },
    remove(at) {
      const before = entries.get(key(at));
      if (entries.delete(key(at))) sorted = undefined;
      if (before?.value === undefined) return undefined;
      shown--;
      return { kind: "delete", at, before: before.value };
    },
    get: (at) => entries.get(key(at))?.value,
    list(namespace) {
      sorted ??= [...entries.keys()].sort();
      const found = sorted.map((each) => entries.get(each));
      return found.flatMap((entry) =>
        entry?.value === undefined || (namespace !== undefined && entry.at.namespace !== namespace) ? [] : [entry.value],
      );
    },
    namesExcept: (kept) => [...entries].filter(([each]) => !kept.has(each)).map(([, { at }]) => at),
    size: () => shown,
  };
}

export function objectNameOf(object: KubeObject): ObjectName {
  return { namespace: object.metadata.namespace ?? "", name: object.metadata.name };
}
