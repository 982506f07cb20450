import type pg from "pg";
import { InputError } from "../../../domain/errors.ts";
import type { RecordedMigration } from "../../schema-fit.ts";

/** knex's own, and the columns `hash` and `needs` of ours. */
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

/** Runs one statement without values. */
export type Ask = <Row extends object>(text: string) => Promise<readonly Row[]>;

/** The migrations that the database has recorded, in the order in which they were run; none in an empty database. Writes nothing. */
export async function readRecorded(ask: Ask): Promise<readonly RecordedMigration[]> {
  const [found] = await ask<{ readonly is_there: boolean }>(`select to_regclass('${MIGRATION_TABLE}') is not null as is_there`);
  if (found?.is_there !== true) return [];
  // As a document, for the columns may not be there.
  return ask<RecordedMigration>(
    `select name, to_jsonb(m) ->> 'hash' as hash, (to_jsonb(m) ->> 'needs')::int as needs from ${MIGRATION_TABLE} m order by id`,
  );
}
