import knex, { type Knex } from "knex";
import pg from "pg";
import { InputError, UnavailableError } from "../../../domain/errors.ts";
import { sleep, systemClock } from "../../../runtime/clock.ts";
import type { Log } from "../../../telemetry/log.ts";
import { judgeSchema, type SchemaFit, whyNotServe } from "../../schema-fit.ts";
import { connectionSettings } from "./connection-settings.ts";
import { LIMIT_WAITING, type Migration, migrationSource, readMigrations } from "./migration-files.ts";
import { grantRights } from "./rights/grant-rights.ts";
import type { LoginNames } from "./rights/render-grants.ts";
import { checkServer, MIGRATION_TABLE, readRecorded } from "./schema-checks.ts";
import { isDriverError, sqlState, translate } from "./sql-state.ts";
import { untrustedServer } from "./untrusted-server.ts";

export interface MigrateOptions {
  readonly url: string;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** The schema's history; this version's own by default. */
  readonly migrations?: readonly Migration[];
  /** Leave a schema alone that is there: whose it is brings it up to date. */
  readonly onlyEmpty?: boolean;
  /** Logins that get their rights in the schema afterwards, unless that is newer than this version. */
  readonly grant?: { readonly to: LoginNames; readonly when: "always" | "a file was run" };
}

/** What bringing a schema up to date came to. */
export interface Migrated {
  /** Each file that was run, in order, with the seconds it took. */
  readonly applied: readonly { readonly name: string; readonly seconds: number }[];
  /** How program and database fit now. */
  readonly fit: SchemaFit;
}

/** Arbitrary, and the same in every version: who holds this advisory lock may change the schema. */
const LOCK = 7_243_091_553;
const LOCK_POLL_MS = 250;

/**
 * Brings the schema to this version by the files of `migrations/`, one transaction a file. Any number of replicas may do this at once:
 * they take turns under a lock that goes with the connection of whoever holds it, so that one killed half-way leaves nothing to clean
 * up. The lock is polled: a statement that waited inside the database would hold up `create index concurrently`, which waits for it.
 * A schema that a newer version has only added to is left as it is.
 *
 * Raises InputError when the server is older than PostgreSQL 15, when the schema needs a newer version or was made by other files
 * or when the address, the user or the database is wrong, or the server's certificate is not trusted, UnavailableError when the server is away, the signal's reason when that aborts;
 * and what `grantRights` raises.
 */
export async function migrate(options: MigrateOptions): Promise<Migrated> {
  const { grant } = options;
  return alone(options, async (client, over) => {
    const migrated = await migrateLocked(options, client, over);
    const isDue = grant?.when === "always" || migrated.applied.length > 0;
    if (grant !== undefined && isDue && migrated.fit.code === "fits") await grantRights(client, grant.to);
    return migrated;
  });
}

/**
 * Gives the logins of Argosy's processes their rights in a schema of this version. Raises what `migrate` and `grantRights` raise, and InputError
 * when the schema is older or newer.
 */
export async function grantTo(to: LoginNames, options: Pick<MigrateOptions, "url" | "log" | "signal">): Promise<void> {
  await alone(options, async (client) => {
    const fit = judgeSchema(await readRecorded(asking(client)), await readMigrations());
    const why = whyNotServe(fit) ?? (fit.code === "fits" ? undefined : newerSchema(fit));
    if (why !== undefined) throw why;
    await grantRights(client, to);
  });
}

/** What a newer version needs would be taken away. */
function newerSchema({ newest }: SchemaFit): InputError {
  return new InputError(`granting rights in a schema that a newer version has added to (${newest})`, {
    code: "store.schema-newer",
    path: "database.url",
    remedy: "Run this command of the newest version that uses the database",
  });
}

/** One at a time in the whole fleet, under a lock that goes with the connection. */
async function alone<T>(
  options: Pick<MigrateOptions, "url" | "log" | "signal">,
  work: (client: pg.Client, over: AbortSignal) => Promise<T>,
): Promise<T> {
  const { signal } = options;
  const isOver = new AbortController();
  const over = AbortSignal.any([signal, isOver.signal]);
  return connected(
    options,
    async (client) => {
      // Without its connection the lock is somebody else's.
      client.on("error", (error) => isOver.abort(error));
      await acquire(client, options, over);
      return work(client, over);
    },
    signal,
  );
}

/** How this program and a database fit. Writes nothing and waits for no lock. Raises what `migrate` raises about server and address. */
export async function readSchemaFit(
  { url, migrations }: Pick<MigrateOptions, "url" | "migrations">,
  signal: AbortSignal,
): Promise<SchemaFit> {
  return connected(
    { url },
    async (client) => judgeSchema(await readRecorded(asking(client)), migrations ?? (await readMigrations())),
    signal,
  );
}

async function connected<T>({ url }: Pick<MigrateOptions, "url">, use: (client: pg.Client) => Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const client = new pg.Client({ ...connectionSettings(url), application_name: "argosy-migrate", statement_timeout: 0, query_timeout: 0 });
  client.on("error", () => {});
  try {
    await client.connect();
    await checkServer(client);
    return await use(client);
  } catch (error) {
    throw signal.aborted ? signal.reason : explain(error);
  } finally {
    await client.end().catch(() => {});
  }
}

const asking =
  (client: pg.Client): Parameters<typeof readRecorded>[0] =>
  async (text) =>
    (await client.query(text)).rows;

async function acquire(client: pg.Client, { log }: Pick<MigrateOptions, "log">, over: AbortSignal): Promise<void> {
  for (let count = 0; ; count += 1) {
    const { rows } = await client.query<{ readonly is_ours: boolean }>("select pg_try_advisory_lock($1) as is_ours", [LOCK]);
    if (rows[0]?.is_ours === true) return;
    if (count === 0) log.info({}, "Waiting for another process to bring the database's schema up to date");
    await sleep(systemClock, LOCK_POLL_MS, over);
  }
}

async function migrateLocked(options: MigrateOptions, client: pg.Client, over: AbortSignal): Promise<Migrated> {
  const { log, migrations = await readMigrations(), onlyEmpty = false } = options;
  const before = await readRecorded(asking(client));
  const fit = judgeSchema(before, migrations);
  if (fit.code !== "empty" && fit.code !== "older") {
    const why = whyNotServe(fit);
    if (why !== undefined) throw why;
  }
  const isUpToDate = fit.pending.length === 0 && !fit.isFromSteps && before.every(({ needs }) => needs !== null);
  if (isUpToDate || (onlyEmpty && fit.code !== "empty")) return { applied: [], fit };
  if (fit.pending.length > 0) log.info({ migrations: fit.pending }, "Bringing the database's schema up to date");
  if (fit.isFromSteps) log.info({}, "Recording that the database's schema is as the first migration makes it");
  const database = openKnex(options, migrations, over);
  try {
    const applied = await runMigrations(database, migrations, { ...fit, log });
    return { applied, fit: judgeSchema(await readRecorded(asking(client)), migrations) };
  } catch (error) {
    throw over.aborted ? over.reason : error;
  } finally {
    await database.destroy();
  }
}

function openKnex({ url, log }: MigrateOptions, migrations: readonly Migration[], over: AbortSignal): Knex {
  // Leaving knex waits for its statement, and whoever stops has no time for that: its connection is cut instead.
  const afterCreate = (connection: pg.Client, done: () => void): void => {
    over.addEventListener("abort", () => void connection.end(), { once: true });
    done();
  };
  return knex({
    client: "pg",
    connection: {
      ...connectionSettings(url),
      application_name: "argosy-migrate",
      statement_timeout: 0,
      query_timeout: 0,
    } as Knex.PgConnectionConfig,
    pool: { min: 0, max: 1, afterCreate },
    migrations: { tableName: MIGRATION_TABLE, migrationSource: migrationSource(migrations) },
    log: knexLog(log),
  });
}

/**
 * knex's own lock is a row that a killed process leaves behind; ours is held, so nobody else's is in force. One file after the other:
 * `latest` would run all of them in a single transaction.
 */
async function runMigrations(
  database: Knex,
  migrations: readonly Migration[],
  { pending, isFromSteps, log }: Pick<SchemaFit, "pending" | "isFromSteps"> & { readonly log: Log },
): Promise<Migrated["applied"]> {
  await database.migrate.forceFreeMigrationsLock();
  await prepareTable(database);
  if (isFromSteps) await replaceSteps(database, migrations);
  await recordNeeds(database, migrations);
  const applied: Migrated["applied"][number][] = [];
  for (const name of pending) {
    const startMs = systemClock.monotonicMs();
    await database.migrate.up({ afterAll: (transaction, done) => recordFacts(transaction, done as Migration[]) });
    const seconds = Math.round(systemClock.monotonicMs() - startMs) / 1000;
    log.info({ migration: name, seconds }, "Having run a migration");
    applied.push({ name, seconds });
  }
  return applied;
}

/**
 * knex makes its table when it reads it first; the columns are ours. They may be null: an older version, which does not know them, may go
 * on.
 */
async function prepareTable(database: Knex): Promise<void> {
  await database.migrate.currentVersion();
  for (const [column, type] of [
    ["hash", "text"],
    ["needs", "integer"],
  ] as const) {
    if (await database.schema.hasColumn(MIGRATION_TABLE, column)) continue;
    await database.transaction(async (transaction) => {
      await transaction.raw(LIMIT_WAITING);
      await transaction.schema.alterTable(MIGRATION_TABLE, (table) => void table.specificType(column, type));
    });
  }
}

/** In the transaction of the file that was just run: its row and what is known of it are there together, or neither. */
async function recordFacts(transaction: Knex, done: readonly Migration[]): Promise<void> {
  for (const { name, hash, needs } of done) await transaction(MIGRATION_TABLE).where({ name }).update({ hash, needs });
}

/** Of files that an older version has run, which recorded no need: this version knows them, and what they need. */
async function recordNeeds(database: Knex, migrations: readonly Migration[]): Promise<void> {
  for (const { name, needs } of migrations) await database(MIGRATION_TABLE).where({ name, needs: null }).update({ needs });
}

/** The first file makes this schema, and it stays as it is: only the record of how it came to be is written anew. */
async function replaceSteps(database: Knex, [baseline]: readonly Migration[]): Promise<void> {
  if (baseline === undefined) return;
  const { name, hash, needs } = baseline;
  await database.transaction(async (transaction) => {
    await transaction(MIGRATION_TABLE).del();
    await transaction(MIGRATION_TABLE).insert({ name, hash, needs, batch: 1, migration_time: transaction.fn.now() });
  });
}

function knexLog(log: Log): NonNullable<Knex.Config["log"]> {
  const say =
    (level: "debug" | "warn" | "error") =>
    (message: unknown): void =>
      log[level]({ message: String(message) }, "Hearing from knex");
  return { debug: say("debug"), deprecate: say("debug"), warn: say("warn"), error: say("error") };
}

/** Wrong password, no such role, no such database: the server is there and says that the address is wrong. */
const WRONG_ADDRESS = /^(28|3D)/;

function explain(error: unknown): unknown {
  const state = sqlState(error);
  if (state !== undefined && WRONG_ADDRESS.test(state)) {
    return new InputError("connecting to the database: it refuses this user, password or database name", {
      code: "store.refused",
      path: "database.url",
      remedy: "Correct DATABASE_URL; the user needs the right to create tables in the database",
      cause: error,
    });
  }
  if (state === "42501") {
    return new InputError("creating tables: this user may not", {
      code: "store.no-right",
      path: "database.url",
      remedy:
        "Let the owner of the tables run `argosy migrate`; in an empty database let an administrator grant create on schema public to it",
      cause: error,
    });
  }
  const untrusted = untrustedServer(error);
  if (untrusted !== undefined) return untrusted;
  if (state === undefined && isDriverError(error))
    return new UnavailableError("connecting to the database", { code: "store.unavailable", cause: error });
  return translate("migrate", error);
}
