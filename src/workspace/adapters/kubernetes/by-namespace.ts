interface Named {
  readonly namespace: string;
  readonly name: string;
}

export interface ByNamespace<T extends Named> {
  put(value: T): void;
  remove(at: Named): void;
  get(at: Named): T | undefined;
  /** In no order; everything without a namespace. */
  list(namespace?: string): readonly T[];
}

/** Values by namespace and name, so that a namespace's can be listed without looking at everybody's. */
export function createByNamespace<T extends Named>(): ByNamespace<T> {
  const namespaces = new Map<string, Map<string, T>>();
  return {
    put(value) {
      const names = namespaces.get(value.namespace);
      if (names === undefined) namespaces.set(value.namespace, new Map([[value.name, value]]));
      else names.set(value.name, value);
    },
    remove({ namespace, name }) {
      const names = namespaces.get(namespace);
      names?.delete(name);
      if (names?.size === 0) namespaces.delete(namespace);
    },
    get: ({ namespace, name }) => namespaces.get(namespace)?.get(name),
    list(namespace) {
      const chosen = namespace === undefined ? [...namespaces.values()] : [namespaces.get(namespace) ?? new Map<string, T>()];
      return chosen.flatMap((names) => [...names.values()]);
    },
  };
}
