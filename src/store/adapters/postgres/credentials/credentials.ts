import { DefectError, InputError } from "../../../../domain/errors.ts";
import type { CredentialKey, CredentialStore, KeyRing, KeyUse, Rewrapping, RewrapStep } from "../../../credential/port.ts";
import type { Database, Run, Statement } from "../database.ts";
import { createEnvelope, type Envelope, type Sealed } from "./envelope.ts";

const COLUMNS = `key_id as "keyId", data_key as "dataKey", ciphertext, fingerprint`;

const PUT: Statement = {
  name: "put_credential",
  text: `
insert into credential as c (id, owner, purpose, key_id, data_key, ciphertext, fingerprint) values ($1, $2, $3, $4, $5, $6, $7)
on conflict (id) do update set key_id = excluded.key_id, data_key = excluded.data_key, ciphertext = excluded.ciphertext, fingerprint = excluded.fingerprint
 where c.owner = excluded.owner and c.purpose = excluded.purpose
returning id`,
};

const PUT_IF_ABSENT: Statement = {
  name: "put_credential_if_absent",
  text: "insert into credential (id, owner, purpose, key_id, data_key, ciphertext, fingerprint) values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing",
};

const READ: Statement = { name: "read_credential", text: `select owner, purpose, ${COLUMNS} from credential where id = $1` };

const REMOVE: Statement = { name: "remove_credential", text: "delete from credential where id = $1" };

const LIST_OLD: Statement = {
  name: "list_credentials_of_old_keys",
  text: `select id, owner, purpose, ${COLUMNS} from credential where key_id <> $1 and id > $2 order by id limit $3`,
};

/** Only what is still wrapped as it was read: a credential that was replaced meanwhile is wrapped by the current key already. */
const REWRAP: Statement = {
  name: "rewrap_credential",
  text: "update credential set key_id = $3, data_key = $4, ciphertext = $5, fingerprint = $6 where id = $1 and data_key = $2 returning id",
};

const COUNT: Statement = {
  name: "count_credentials_by_key",
  text: 'select key_id as "keyId", count(*) as credentials from credential group by key_id order by key_id',
};

type CredentialRow = CredentialKey & Sealed;

export function createCredentialStore(database: Database, ring: KeyRing | undefined): CredentialStore {
  const envelope = (): Envelope => envelopeOf(ring);
  const rowOf = async (key: CredentialKey, signal: AbortSignal): Promise<CredentialRow | undefined> => {
    const [row] = await database.run<CredentialRow>(READ, [key.id], signal);
    if (row !== undefined && (row.owner !== key.owner || row.purpose !== key.purpose)) throw misused(key);
    return row;
  };
  const read = async (key: CredentialKey, signal: AbortSignal): Promise<string | undefined> => {
    const row = await rowOf(key, signal);
    return row === undefined ? undefined : envelope().open(key, row);
  };
  return {
    async put(key, plaintext, signal) {
      const sealed = envelope().seal(key, plaintext);
      const stored = await database.run(PUT, values(key, sealed), signal);
      if (stored.length === 0) throw misused(key);
      return sealed.fingerprint;
    },
    async putIfAbsent(key, plaintext, signal) {
      const before = await read(key, signal);
      if (before !== undefined) return before;
      await database.run(PUT_IF_ABSENT, values(key, envelope().seal(key, plaintext)), signal);
      // Somebody may have been faster, or have removed it at once: then the caller's stands for what was stored.
      return (await read(key, signal)) ?? plaintext;
    },
    read,
    async remove(key, signal) {
      if ((await rowOf(key, signal)) !== undefined) await database.run(REMOVE, [key.id], signal);
    },
    rewrap: (step, signal) => rewrap(database, { envelope: envelope(), current: (ring ?? noRing()).current }, step, signal),
    countByKey: (signal) => database.run<KeyUse>(COUNT, [], signal),
  };
}

/** Raises `InputError` when this process was given no keys. */
export function envelopeOf(ring: KeyRing | undefined): Envelope {
  return createEnvelope(ring ?? noRing());
}

/** Stores or replaces a sealed credential, as a part of the caller's transaction. */
export async function putSealed(run: Run, key: CredentialKey, sealed: Sealed): Promise<void> {
  if ((await run(PUT, values(key, sealed))).length === 0) throw misused(key);
}

function values(key: CredentialKey, sealed: Sealed): readonly unknown[] {
  return [key.id, key.owner, key.purpose, ...sealedValues(sealed)];
}

function sealedValues({ keyId, dataKey, ciphertext, fingerprint }: Sealed): readonly unknown[] {
  return [keyId, dataKey, ciphertext, fingerprint];
}

async function rewrap(
  database: Database,
  { envelope, current }: { readonly envelope: Envelope; readonly current: string },
  { after, limit, dataKeys = false }: RewrapStep,
  signal: AbortSignal,
): Promise<Rewrapping> {
  // No key is called "", so that all are wrapped by another one.
  const rows = await database.run<CredentialRow>(LIST_OLD, [dataKeys ? "" : current, after, limit], signal);
  const unreadable: Rewrapping["unreadable"][number][] = [];
  let rewrapped = 0;
  for (const row of rows) {
    const anew = tryTo(dataKeys ? envelope.reseal : envelope.rewrap, row);
    if ("why" in anew) unreadable.push({ id: row.id, keyId: row.keyId, why: anew.why });
    else rewrapped += (await database.run(REWRAP, [row.id, row.dataKey, ...sealedValues(anew)], signal)).length;
  }
  return { rewrapped, unreadable, next: rows.length < limit ? undefined : rows.at(-1)?.id };
}

/** One that cannot be opened must not keep the others from the new key. */
function tryTo(wrapAnew: Envelope["rewrap"], row: CredentialRow): Sealed | { readonly why: string } {
  try {
    return wrapAnew(row, row);
  } catch (error) {
    if (error instanceof InputError || error instanceof DefectError) return { why: error.message };
    throw error;
  }
}

function misused({ id, owner, purpose }: CredentialKey): DefectError {
  return new DefectError("using a credential for something it was not stored for", {
    code: "store.credential-key",
    context: { credential: id, owner, purpose },
  });
}

function noRing(): never {
  throw new InputError("using stored credentials without an encryption key", {
    code: "store.no-encryption-key",
    path: "encryption.keys",
    remedy: "Name the keys that credentials are wrapped by",
  });
}
