import { readFileSync } from "node:fs";
import { join } from "node:path";
import { InputError } from "../domain/errors.ts";
import { startEmbeddedPostgres } from "../runtime/embedded-postgres/embedded-postgres.ts";
import { createKeyRing, type KeyRing, keyRingFromFile } from "../store/adapters/encryption/key-ring.ts";
import { migrate } from "../store/adapters/postgres/migrate.ts";
import { createPostgresStore } from "../store/adapters/postgres/postgres-store.ts";
import type { Store } from "../store/port.ts";
import type { Context } from "./context.ts";

/** The database: that of the configuration, else an embedded server in the state directory; brought to the present schema. */
export async function openStore(context: Context): Promise<Store> {
  const { config, log, shutdown } = context;
  const url = config.database.url ?? (await startDatabase(context));
  await migrate({ url, log, signal: shutdown.signal });
  return createPostgresStore({ ...context, url, keyRing: openKeyRing(context), poolSize: config.limits.databaseConnections });
}

async function startDatabase({ config, log, shutdown }: Context): Promise<string> {
  const database = await startEmbeddedPostgres({ stateDir: join(config.stateDir, "postgres"), signal: shutdown.signal, log });
  shutdown.add("embedded PostgreSQL", () => database.stop());
  return database.url;
}

/** Keys as configured; with the embedded database one is kept beside it. */
function openKeyRing({ config, env }: Context): KeyRing {
  if (config.encryption === undefined) return keyRingFromFile(join(config.stateDir, "encryption.key"));
  const keys = config.encryption.keys.map(({ id, from }) => ({
    id,
    text: "file" in from ? readKeyFile(from.file) : (env[from.env] ?? ""),
  }));
  return createKeyRing({ keys, current: config.encryption.current });
}

function readKeyFile(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (cause) {
    throw new InputError(`the key in ${file} cannot be read`, {
      code: "config.key-file",
      path: "encryption.keys",
      remedy: "Name a file with 32 bytes in base64 that Argosy may read",
      cause,
    });
  }
}
