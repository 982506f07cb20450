import { randomBytes } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startEmbeddedPostgres } from "../runtime/embedded-postgres/embedded-postgres.ts";
import { keepTrying } from "../runtime/keep-trying.ts";
import { createKeyRing } from "../store/adapters/postgres/credentials/envelope.ts";
import { migrate } from "../store/adapters/postgres/migrate.ts";
import { createPostgresStore } from "../store/adapters/postgres/postgres-store.ts";
import type { KeyRing } from "../store/credential/port.ts";
import type { Store } from "../store/port.ts";
import type { Context } from "./context.ts";
import { decodeKey, readKeyFile, readKeyRing } from "./read-key-ring.ts";
import { waitingForDatabase, whyWaitForKeys } from "./why-wait.ts";

/**
 * The database: that of the configuration, else an embedded server in the state directory; brought to the present schema first, unless that
 * is left to `argosy migrate`. Waits for one that cannot be reached, refuses this user or what this process's roles do, or has a schema that
 * this version does not work with.
 */
export async function openStore(context: Context): Promise<Store> {
  const { config, shutdown, log } = context;
  // Before anything is waited for: keys that are wrong do not pass by waiting.
  const keyRing = await openKeyRing(context);
  const url = config.database.url ?? (await startDatabase(context));
  const open = async (signal: AbortSignal): Promise<Store> => {
    const grant = config.database.grantTo && ({ to: config.database.grantTo, when: "a file was run" } as const);
    const { fit } =
      config.database.migrate === "at-start" ? await migrate({ url, log, signal, ...(grant && { grant }) }) : { fit: undefined };
    if (fit?.code === "fits-newer") log.info({ newer: fit.about }, "Serving on a database that a newer version has added to");
    return createPostgresStore({ ...context, url, keyRing, poolSize: config.limits.databaseConnections, roles: config.roles });
  };
  return keepTrying(open, { ...context, name: "database", whyWait: waitingForDatabase(context.clock) }, shutdown.signal);
}

async function startDatabase({ config, log, shutdown }: Context): Promise<string> {
  const database = await startEmbeddedPostgres({ stateDir: join(config.stateDir, "postgres"), signal: shutdown.signal, log });
  shutdown.add("embedded PostgreSQL", () => database.stop());
  return database.url;
}

/** Keys as configured; with the embedded database one is kept beside it. Waits for a service that keeps one of them. */
async function openKeyRing(context: Context): Promise<KeyRing> {
  const { config, env, shutdown } = context;
  const { encryption } = config;
  if (encryption === undefined) return createKeyRing("local", new Map([["local", keyBeside(config.stateDir)]]));
  const read = (signal: AbortSignal): Promise<KeyRing> => readKeyRing(encryption, env, signal);
  return keepTrying(read, { ...context, name: "encryption keys", whyWait: whyWaitForKeys }, shutdown.signal);
}

function keyBeside(stateDir: string): Uint8Array {
  const file = join(stateDir, "encryption.key");
  if (!existsSync(file)) writeFileSync(file, randomBytes(32).toString("base64"), { mode: 0o600 });
  return decodeKey(readKeyFile(file), "local");
}
