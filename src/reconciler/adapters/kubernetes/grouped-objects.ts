import type { ObjectChange, ObservedObject } from "../../../shard/managed-object.ts";

/** The objects that a watch shows, by a key that they name. */
export interface GroupedObjects<T extends ObservedObject> {
  /** A change that the watch shows. Every one has to come here, echoes of own writes too. */
  seen(change: ObjectChange<T>): void;
  /** Those of one key, in the order of their places. Costs as much as these are, however many others there are, and nothing while they stay the same. */
  list(key: string): readonly T[];
}

interface Group<T> {
  readonly members: Map<string, T>;
  sorted: readonly T[] | undefined;
}

/** `keyOf` must depend on nothing but the object; `undefined`: it belongs to no group. */
export function createGroupedObjects<T extends ObservedObject>(keyOf: (object: T) => string | undefined): GroupedObjects<T> {
  const groups = new Map<string, Group<T>>();
  const keys = new Map<string, string>();
  const leave = (place: string): void => {
    const key = keys.get(place);
    if (key === undefined) return;
    keys.delete(place);
    const group = groups.get(key);
    if (group === undefined) return;
    group.members.delete(place);
    group.sorted = undefined;
    if (group.members.size === 0) groups.delete(key);
  };
  return {
    seen(change) {
      const place = `${change.at.namespace}|${change.at.name}`;
      leave(place);
      const key = change.kind === "upsert" ? keyOf(change.now) : undefined;
      if (change.kind !== "upsert" || key === undefined) return;
      keys.set(place, key);
      const group = groups.get(key) ?? { members: new Map<string, T>(), sorted: undefined };
      group.members.set(place, change.now);
      group.sorted = undefined;
      groups.set(key, group);
    },
    list(key) {
      const group = groups.get(key);
      if (group === undefined) return [];
      group.sorted ??= [...group.members].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
      return group.sorted;
    },
  };
}
