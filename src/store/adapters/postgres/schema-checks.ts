import type pg from "pg";
import { InputError } from "../../../domain/errors.ts";
import type { Migration } from "./migrations/source.ts";

export const MIGRATION_TABLE = "schema_migration";

const OLDEST = 15;

/** Raises `InputError` when the server is older than the statements are written for. */
export async function checkServer(client: Pick<pg.Client, "query">): Promise<void> {
  const { rows } = await client.query<{ readonly server_version_num: string }>("show server_version_num");
  const major = Math.floor(Number(rows[0]?.server_version_num) / 10_000);
  if (major >= OLDEST) return;
  throw new InputError(`using PostgreSQL ${major}`, {
    code: "store.postgres-too-old",
    path: "database.url",
    remedy: `Use PostgreSQL ${OLDEST} or newer`,
    context: { major },
  });
}

/** Names of the steps that are still to be run; raises `InputError` when the database has some that this version does not know. */
export async function checkSchema(client: Pick<pg.Client, "query">, migrations: readonly Migration[]): Promise<readonly string[]> {
  const done = await readDone(client);
  const unknown = done.filter((name) => !migrations.some((migration) => migration.name === name));
  if (unknown.length === 0) return migrations.map(({ name }) => name).filter((name) => !done.includes(name));
  throw new InputError(`using a database whose schema has ${unknown.join(", ")}, which this version does not know`, {
    code: "store.schema-newer",
    path: "database.url",
    remedy: "Start the version that made the schema, or a newer one",
    context: { unknown: unknown.join(", ") },
  });
}

async function readDone(client: Pick<pg.Client, "query">): Promise<readonly string[]> {
  const { rows } = await client.query<{ readonly is_there: boolean }>(`select to_regclass('${MIGRATION_TABLE}') is not null as is_there`);
  if (rows[0]?.is_there !== true) return [];
  return (await client.query<{ readonly name: string }>(`select name from ${MIGRATION_TABLE} order by id`)).rows.map(({ name }) => name);
}
