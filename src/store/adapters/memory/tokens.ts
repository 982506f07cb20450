import type { TokenStore } from "../../token/port.ts";
import type { Transact } from "./tables.ts";

export function createMemoryTokenStore(transact: Transact): TokenStore {
  return {
    put: ({ name, role }, hash, signal) => transact(signal, ({ tables }) => void tables.tokens.set(name, { name, role, hash })),
    readHashes: (signal) =>
      transact(signal, ({ tables }) => new Map([...tables.tokens.values()].map(({ hash, name, role }) => [hash, { name, role }]))),
    list: (signal) =>
      transact(signal, ({ tables }) =>
        [...tables.tokens.values()].sort((a, b) => (a.name < b.name ? -1 : 1)).map(({ name, role }) => ({ name, role })),
      ),
    remove: (name, signal) => transact(signal, ({ tables }) => void tables.tokens.delete(name)),
  };
}
