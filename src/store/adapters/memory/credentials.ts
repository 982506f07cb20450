import { DefectError } from "../../../domain/errors.ts";
import { contentHash } from "../../../domain/hash.ts";
import type { CredentialKey, CredentialStore } from "../../credential/port.ts";
import type { CredentialRow, Tables, Transact } from "./tables.ts";

/** Secrets of a process's own memory: nothing is at rest, so nothing is encrypted and there is nothing to re-wrap. */
/** What stands in for the name of a key. */
const MEMORY = "memory";

export function createMemoryCredentialStore(transact: Transact): CredentialStore {
  return {
    put: (key, plaintext, signal) => transact(signal, ({ tables }) => putCredential(tables, key, plaintext)),
    putIfAbsent: (key, plaintext, signal) =>
      transact(signal, ({ tables }) => {
        if (rowOf(tables, key) === undefined) putCredential(tables, key, plaintext);
        return rowOf(tables, key)?.plaintext ?? plaintext;
      }),
    read: (key, signal) => transact(signal, ({ tables }) => rowOf(tables, key)?.plaintext),
    remove: (key, signal) => transact(signal, ({ tables }) => void (rowOf(tables, key) !== undefined && tables.credentials.delete(key.id))),
    rewrap: (_step, signal) => transact(signal, () => ({ rewrapped: 0, unreadable: [], next: undefined })),
    countByKey: (signal) =>
      transact(signal, ({ tables }) => (tables.credentials.size === 0 ? [] : [{ keyId: MEMORY, credentials: tables.credentials.size }])),
  };
}

export function putCredential(tables: Tables, key: CredentialKey, plaintext: string): string {
  rowOf(tables, key);
  tables.credentials.set(key.id, { owner: key.owner, purpose: key.purpose, plaintext });
  return contentHash(["fingerprint", plaintext]);
}

function rowOf(tables: Tables, { id, owner, purpose }: CredentialKey): CredentialRow | undefined {
  const row = tables.credentials.get(id);
  if (row === undefined || (row.owner === owner && row.purpose === purpose)) return row;
  throw new DefectError("using a credential for something it was not stored for", {
    code: "store.credential-key",
    context: { credential: id, owner, purpose },
  });
}
