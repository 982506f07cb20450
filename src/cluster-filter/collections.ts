import type { WholeClusterRequest } from "./whole-cluster-request.ts";

/** What a client's cache has of one collection, as far as lists and watches through the filter say. Times in ms on a clock that only grows. */
interface Collection {
  /** Watches that are open, with the generation up to which each has handed everything on. */
  readonly watches: Map<object, number>;
  /** A list that was begun and that no watch has followed yet: it replaces what the cache has. */
  list: { readonly generation: number; readonly atMs: number } | undefined;
  /** Up to which generation the cache has everything. */
  cached: number;
  quietSinceMs: number;
}

/** Follows what of the cluster a client caches, to tell when a namespace that was let in is everywhere in it. */
export interface Collections {
  /** A page of a list was asked for; `isFirst`: the list's first one. */
  listed(key: string, at: { readonly generation: number; readonly isFirst: boolean; readonly nowMs: number }): void;
  /** A client was asked to list again: until it has, nobody knows what its cache has. */
  mustList(key: string, nowMs: number): void;
  /** A watch was opened, or has handed on what came up to a generation. `watch`: the same object until it ends. */
  advanced(key: string, watch: object, at: { readonly listed: number; readonly held: number; readonly nowMs: number }): void;
  ended(key: string, watch: object, nowMs: number): void;
  /** The API server does not serve it any more, or not to this client. */
  forget(key: string): void;
  /** Up to which generation everything that is cached has all objects. What nobody has asked for in a while is not cached any more. */
  cachedUpTo(generation: number, nowMs: number): number;
}

/**
 * How long a collection without a watch is still taken for cached, in ms: Argo CD opens a watch again after a second, and lists again a second after it
 * ended. A list of very many pages asks for each within this time.
 */
const GIVEN_UP_MS = 60_000;

export function createCollections(): Collections {
  const all = new Map<string, Collection>();
  const of = (key: string, nowMs: number): Collection => {
    const found = all.get(key) ?? { watches: new Map(), list: undefined, cached: 0, quietSinceMs: nowMs };
    found.quietSinceMs = nowMs;
    all.set(key, found);
    return found;
  };
  const settle = (collection: Collection): void => {
    const bounds = [...collection.watches.values(), ...(collection.list === undefined ? [] : [collection.list.generation])];
    if (collection.watches.size > 0) collection.cached = Math.max(collection.cached, Math.min(...bounds));
  };
  return {
    listed(key, { generation, isFirst, nowMs }) {
      const collection = of(key, nowMs);
      const before = isFirst ? generation : (collection.list?.generation ?? generation);
      collection.list = { generation: before, atMs: nowMs };
    },
    mustList(key, nowMs) {
      of(key, nowMs).list = { generation: 0, atMs: nowMs };
    },
    advanced(key, watch, { listed, held, nowMs }) {
      const collection = of(key, nowMs);
      const isNew = !collection.watches.has(watch);
      collection.watches.set(watch, held);
      if (isNew && (collection.list?.generation ?? 0) <= listed) collection.list = undefined;
      settle(collection);
    },
    ended(key, watch, nowMs) {
      const collection = all.get(key);
      if (collection === undefined) return;
      collection.watches.delete(watch);
      collection.quietSinceMs = nowMs;
    },
    forget: (key) => void all.delete(key),
    cachedUpTo(generation, nowMs) {
      for (const [key, collection] of all) {
        if (collection.list !== undefined && nowMs - collection.list.atMs > GIVEN_UP_MS) {
          collection.list = undefined;
          settle(collection);
        }
        if (collection.watches.size === 0 && nowMs - collection.quietSinceMs > GIVEN_UP_MS) all.delete(key);
      }
      return Math.min(generation, ...[...all.values()].map(({ cached }) => cached));
    },
  };
}

/** What a client can watch apart from others: a kind, and what it selects of it. */
export function collectionKey({ api, plural, query }: WholeClusterRequest): string {
  const selected = ["labelSelector", "fieldSelector"].map((name) => query.get(name) ?? "");
  return [`${api}/${plural}`, ...selected].join(" ");
}
