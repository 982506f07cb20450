import type { ByNamespace } from "./by-namespace.ts";

interface Named {
  readonly namespace: string;
  readonly name: string;
}

/** How many values of a namespace are kept whole, and what is kept of the others. */
export interface NamespaceBound<T> {
  readonly whole: number;
  readonly reduce: (value: T) => T;
}

/**
 * Keeps one namespace from filling the memory of whoever serves all of them. What comes to a namespace that has enough already is reduced, until it
 * changes when there is room. What was kept whole stays so until it goes.
 */
export function createNamespaceShare<T extends Named>(kept: Pick<ByNamespace<T>, "get" | "list">, bound: NamespaceBound<T> | undefined) {
  const reduced = new Set<string>();
  const keyOf = ({ namespace, name }: Named): string => `${namespace}/${name}`;
  const othersOf = (value: T): number => kept.list(value.namespace).length - Number(kept.get(value) !== undefined);
  return {
    /** The value as it is to be kept. */
    fit(value: T | undefined): T | undefined {
      if (value === undefined || bound === undefined) return value;
      const isWhole = kept.get(value) !== undefined && !reduced.has(keyOf(value));
      if (isWhole || othersOf(value) < bound.whole) {
        reduced.delete(keyOf(value));
        return value;
      }
      reduced.add(keyOf(value));
      return bound.reduce(value);
    },
    /** There is none of this name any more. */
    forget(at: Named): void {
      reduced.delete(keyOf(at));
    },
  };
}
