interface Named {
  readonly namespace: string;
  readonly name: string;
}

export interface ByNamespace<T extends Named> {
  put(value: T): void;
  remove(at: Named): void;
  get(at: Named): T | undefined;
  /** A namespace's in its order, the same list until something changes; everything, in no order, without a namespace. */
  list(namespace?: string): readonly T[];
}

/** Values by namespace and name, so that a namespace's can be listed without looking at everybody's. */
export function createByNamespace<T extends Named>(order: (a: T, b: T) => number): ByNamespace<T> {
  const namespaces = new Map<string, Map<string, T>>();
  const sorted = new Map<string, readonly T[]>();
  return {
    put(value) {
      sorted.delete(value.namespace);
      const names = namespaces.get(value.namespace);
      if (names === undefined) namespaces.set(value.namespace, new Map([[value.name, value]]));
      else names.set(value.name, value);
    },
    remove({ namespace, name }) {
      sorted.delete(namespace);
      const names = namespaces.get(namespace);
      names?.delete(name);
      if (names?.size === 0) namespaces.delete(namespace);
    },
    get: ({ namespace, name }) => namespaces.get(namespace)?.get(name),
    list(namespace) {
      if (namespace === undefined) return [...namespaces.values()].flatMap((names) => [...names.values()]);
      const known = sorted.get(namespace);
      if (known !== undefined) return known;
      const values = [...(namespaces.get(namespace)?.values() ?? [])].sort(order);
      if (values.length > 0) sorted.set(namespace, values);
      return values;
    },
  };
}
