import type { ReservedServerStore } from "../../port.ts";
import type { Transact } from "./tables.ts";

export function createMemoryReservedServerStore(transact: Transact): ReservedServerStore {
  return {
    read: (server, signal) => transact(signal, ({ tables }) => tables.reservedServers.get(server)),
    keep: (shown, signal) => transact(signal, ({ tables }) => void tables.reservedServers.set(shown.server, shown)),
  };
}
