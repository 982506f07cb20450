interface Named {
  readonly namespace: string;
  readonly name: string;
}

export interface ByNamespace<T extends Named> {
  put(value: T): void;
  remove(at: Named): void;
  get(at: Named): T | undefined;
  /** A namespace's in its order, as it is now and becomes; everything, in no order, without a namespace. */
  list(namespace?: string): readonly T[];
}

interface Known<T> {
  readonly byName: Map<string, T>;
  /** The same values in order, kept so: a namespace of thousands is asked for its list at each change of one. */
  readonly sorted: T[];
}

/** Values by namespace and name, so that a namespace's can be listed without going through everybody's. */
export function createByNamespace<T extends Named>(order: (a: T, b: T) => number): ByNamespace<T> {
  const namespaces = new Map<string, Known<T>>();
  const place = (sorted: readonly T[], value: T): number => {
    let [from, to] = [0, sorted.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (order(sorted[middle] as T, value) < 0) from = middle + 1;
      else to = middle;
    }
    return from;
  };
  const remove = ({ namespace, name }: Named): void => {
    const known = namespaces.get(namespace);
    const value = known?.byName.get(name);
    if (known === undefined || value === undefined) return;
    known.byName.delete(name);
    known.sorted.splice(known.sorted.indexOf(value, place(known.sorted, value)), 1);
    if (known.sorted.length === 0) namespaces.delete(namespace);
  };
  return {
    put(value) {
      remove(value);
      const known = namespaces.get(value.namespace) ?? { byName: new Map<string, T>(), sorted: [] };
      namespaces.set(value.namespace, known);
      known.byName.set(value.name, value);
      known.sorted.splice(place(known.sorted, value), 0, value);
    },
    remove,
    get: ({ namespace, name }) => namespaces.get(namespace)?.byName.get(name),
    list(namespace) {
      if (namespace === undefined) return [...namespaces.values()].flatMap(({ sorted }) => sorted);
      return namespaces.get(namespace)?.sorted ?? [];
    },
  };
}
