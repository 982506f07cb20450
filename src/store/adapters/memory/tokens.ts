import type { TokenStore } from "../../token/port.ts";
import type { Transact } from "./tables.ts";

export function createTokenStore(transact: Transact): TokenStore {
  return {
    put: ({ name, role }, hash, signal) => transact(signal, ({ tables }) => void tables.tokens.set(name, { name, role, hash })),
    find: (hash, signal) =>
      transact(signal, ({ tables }) => {
        const token = [...tables.tokens.values()].find((one) => one.hash === hash);
        return token === undefined ? undefined : { name: token.name, role: token.role };
      }),
    list: (signal) =>
      transact(signal, ({ tables }) =>
        [...tables.tokens.values()].sort((a, b) => (a.name < b.name ? -1 : 1)).map(({ name, role }) => ({ name, role })),
      ),
    remove: (name, signal) => transact(signal, ({ tables }) => void tables.tokens.delete(name)),
  };
}
