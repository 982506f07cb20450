import type { ObjectChange, ObservedObject } from "../../../shard/managed-object.ts";

/** Those of the objects that a watch shows for which a condition holds. */
export interface ChosenObjects<T extends ObservedObject> {
  /** A change that the watch shows. Every one has to come here, echoes of own writes too. */
  seen(change: ObjectChange<T>): void;
  /** In the order of their places. Costs as much as was chosen, however many objects there are. */
  list(): readonly T[];
}

/** Judges each object once per change. `isChosen` must depend on nothing but the object: what time or others make of it is for who lists. */
export function createChosenObjects<T extends ObservedObject>(isChosen: (object: T) => boolean): ChosenObjects<T> {
  const chosen = new Map<string, T>();
  let sorted: readonly T[] | undefined;
  return {
    seen(change) {
      const key = `${change.at.namespace}|${change.at.name}`;
      if (change.kind === "upsert" && isChosen(change.now)) chosen.set(key, change.now);
      else if (!chosen.delete(key)) return;
      sorted = undefined;
    },
    list() {
      sorted ??= [...chosen].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
      return sorted;
    },
  };
}
