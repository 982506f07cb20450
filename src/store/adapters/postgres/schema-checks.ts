import type pg from "pg";
import { InputError } from "../../../domain/errors.ts";
import type { Migration } from "./migration-files.ts";

/** knex's own, and a column `hash` of ours. */
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

/** A migration as the database has recorded it. */
interface Recorded {
  readonly name: string;
  /** Null in a database that was made before migrations were files. */
  readonly hash: string | null;
}

export interface SchemaState {
  /** Names of the migrations that are still to be run. */
  readonly pending: readonly string[];
  /** The schema was made by the steps that the first file sums up: it is as that file makes it, and the database does not say so yet. */
  readonly isFromSteps: boolean;
}

/**
 * How far the database's schema is. Raises `InputError` when it was made by something else than the first of these migrations: by ones
 * that this version does not know, by others of the same names, or by a part only of the steps before them.
 */
export async function checkSchema(client: Pick<pg.Client, "query">, migrations: readonly Migration[]): Promise<SchemaState> {
  const recorded = await readRecorded(client);
  if (recorded.some(({ name }) => STEP.test(name))) {
    checkSteps(recorded, migrations);
    return { pending: migrations.slice(1).map(({ name }) => name), isFromSteps: true };
  }
  const byName = new Map(migrations.map((migration) => [migration.name, migration]));
  checkKnown(recorded.filter(({ name }) => !byName.has(name)));
  checkSame(recorded.filter(({ name, hash }) => byName.get(name)?.hash !== hash));
  const done = new Set(recorded.map(({ name }) => name));
  return { pending: migrations.map(({ name }) => name).filter((name) => !done.has(name)), isFromSteps: false };
}

async function readRecorded(client: Pick<pg.Client, "query">): Promise<readonly Recorded[]> {
  const { rows } = await client.query<{ readonly is_there: boolean }>(`select to_regclass('${MIGRATION_TABLE}') is not null as is_there`);
  if (rows[0]?.is_there !== true) return [];
  // As a document, for the column may not be there.
  return (await client.query<Recorded>(`select name, to_jsonb(m) ->> 'hash' as hash from ${MIGRATION_TABLE} m order by id`)).rows;
}

/** Migrations were steps with three digits before they were files with four. Each ran after all before it. */
const STEP = /^\d{3}-/;
const LAST_STEP = "035-repositories-by-hash";
const STEP_COUNT = 29;
/** Of the first file whose schema was compared with that of the steps. Another one would not be what such a database has. */
export const BASELINE_HASH = "797754167be7c8506223d86a6c932433a8f03474d67903d27bdb85c4d874f902";

function checkSteps(recorded: readonly Recorded[], [baseline]: readonly Migration[]): void {
  const names = recorded.map(({ name }) => name);
  const areAll = names.length === STEP_COUNT && names.includes(LAST_STEP) && names.every((name) => STEP.test(name));
  if (areAll && baseline?.hash === BASELINE_HASH) return;
  const last = names.at(-1) ?? "";
  throw new InputError(`using a database whose schema was made up to ${last}, which this version cannot go on from`, {
    code: "store.schema-older",
    path: "database.url",
    remedy: `Start the version once whose last migration is ${LAST_STEP}, then this one; or use an empty database`,
    context: { last },
  });
}

function checkKnown(unknown: readonly Recorded[]): void {
  if (unknown.length === 0) return;
  const names = unknown.map(({ name }) => name).join(", ");
  throw new InputError(`using a database whose schema has ${names}, which this version does not know`, {
    code: "store.schema-newer",
    path: "database.url",
    remedy: "Start the version that made the schema, or a newer one",
    context: { unknown: names },
  });
}

function checkSame(changed: readonly Recorded[]): void {
  if (changed.length === 0) return;
  const names = changed.map(({ name }) => name).join(", ");
  throw new InputError(`using a database whose schema was made by another ${names} than that of this version`, {
    code: "store.schema-changed",
    path: "database.url",
    remedy: "Start the version that made the schema. Who changed a file of migrations/ puts it back and adds a new one",
    context: { changed: names },
  });
}
