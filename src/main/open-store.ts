import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { decodeEncryptionKey } from "../config/encryption-key.ts";
import type { Encryption } from "../config.ts";
import { InputError } from "../domain/errors.ts";
import { startEmbeddedPostgres } from "../runtime/embedded-postgres/embedded-postgres.ts";
import { keepTrying } from "../runtime/keep-trying.ts";
import { createKeyRing } from "../store/adapters/postgres/credentials/envelope.ts";
import { migrate } from "../store/adapters/postgres/migrate.ts";
import { createPostgresStore } from "../store/adapters/postgres/postgres-store.ts";
import type { KeyRing } from "../store/credential/port.ts";
import type { Store } from "../store/port.ts";
import type { Context } from "./context.ts";
import { waitingForDatabase } from "./why-wait.ts";

/**
 * The database: that of the configuration, else an embedded server in the state directory; brought to the present schema first, unless that
 * is left to `argosy migrate`. Waits for one that cannot be reached, refuses this user, or has a schema that this version does not work
 * with.
 */
export async function openStore(context: Context): Promise<Store> {
  const { config, shutdown, log } = context;
  // Before anything is waited for: keys that are wrong do not pass by waiting.
  const keyRing = openKeyRing(context);
  const url = config.database.url ?? (await startDatabase(context));
  const open = async (signal: AbortSignal): Promise<Store> => {
    const { fit } = config.database.migrate === "at-start" ? await migrate({ url, log, signal }) : { fit: undefined };
    if (fit?.code === "fits-newer") log.info({ newer: fit.about }, "Serving on a database that a newer version has added to");
    return createPostgresStore({ ...context, url, keyRing, poolSize: config.limits.databaseConnections });
  };
  return keepTrying(open, { ...context, name: "database", whyWait: waitingForDatabase(context.clock) }, shutdown.signal);
}

async function startDatabase({ config, log, shutdown }: Context): Promise<string> {
  const database = await startEmbeddedPostgres({ stateDir: join(config.stateDir, "postgres"), signal: shutdown.signal, log });
  shutdown.add("embedded PostgreSQL", () => database.stop());
  return database.url;
}

/** Keys as configured; with the embedded database one is kept beside it. */
function openKeyRing({ config, env }: Context): KeyRing {
  if (config.encryption === undefined) return createKeyRing("local", new Map([["local", keyBeside(config.stateDir)]]));
  return readKeyRing(config.encryption, env);
}

/** The keys a configuration names. */
export function readKeyRing({ keys, current }: Encryption, env: Context["env"]): KeyRing {
  const read = keys.map(({ id, from }) => [id, keyOf("file" in from ? readKeyFile(from.file) : (env[from.env] ?? ""), id)] as const);
  return createKeyRing(current, new Map(read));
}

function keyOf(text: string, id: string): Uint8Array {
  const key = decodeEncryptionKey(text.trim());
  if (key !== undefined) return key;
  throw new InputError(`key ${id} is not 32 bytes in base64`, {
    code: "config.key",
    path: "encryption.keys",
    remedy: "Make one with: head -c 32 /dev/urandom | base64",
  });
}

function keyBeside(stateDir: string): Uint8Array {
  const file = join(stateDir, "encryption.key");
  if (!existsSync(file)) writeFileSync(file, randomBytes(32).toString("base64"), { mode: 0o600 });
  return keyOf(readKeyFile(file), "local");
}

function readKeyFile(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new InputError(`the key in ${file} cannot be read`, {
      code: "config.key-file",
      path: "encryption.keys",
      remedy: "Name a file with 32 bytes in base64 that Argosy may read",
      cause,
    });
  }
}
