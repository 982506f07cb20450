import { type Config, parseDatabase } from "../config.ts";
import type { Clock } from "../domain/clock.ts";
import type { Rng } from "../domain/rng.ts";
import { whyWaitForDatabase } from "../main/why-wait.ts";
import { systemClock } from "../runtime/clock.ts";
import { keepTrying } from "../runtime/keep-trying.ts";
import { type Migrated, migrate, readSchemaFit } from "../store/adapters/postgres/migrate.ts";
import { createPostgresStore } from "../store/adapters/postgres/postgres-store.ts";
import { numberOf, numberText, type SchemaFit, whyNotServe } from "../store/schema-fit.ts";
import { createHealthRegistry } from "../telemetry/health.ts";
import { type Log, silentLog } from "../telemetry/log.ts";
import { noMetrics } from "../telemetry/metrics.ts";
import { errorText } from "./error-text.ts";
import { recordMigrated } from "./record-command.ts";
import { invalid, parseYaml } from "./serve.ts";

/** How a program and a database fit, as programs read it. */
export interface SchemaReport {
  readonly fits: boolean;
  /** See `SchemaCode`. */
  readonly code: SchemaFit["code"];
  readonly sentence: string;
  /** Empty where nothing has to be done. */
  readonly remedy: string;
  /** `newest`: the last migration that this program knows. */
  readonly program: { readonly version: string; readonly newest: string };
  /**
   * `newest`: the last one that was run; `needs`: number of the one that a program has to know to work with the schema. Null: there is no
   * schema.
   */
  readonly database: { readonly newest: string | null; readonly needs: string | null };
  /** What is still to be run. */
  readonly pending: readonly string[];
  /** What this command has run. */
  readonly applied: Migrated["applied"];
}

export interface MigrateRequest {
  readonly url: string;
  readonly isCheck: boolean;
  /** Logins that get their rights afterwards. */
  readonly grantTo?: Config["database"]["grantTo"];
  /** How long to wait for a database that cannot be used yet, in ms. */
  readonly waitMs: number;
  readonly version: string;
  readonly clock: Clock;
  readonly rng: Rng;
  /** Hears what a person should know meanwhile. */
  readonly note: (text: string) => void;
}

/** What a configuration file says of the database, whatever is wrong in its other sections. Throws `InputError`. */
export function readDatabaseSection(
  { text, config: file }: { readonly text: string; readonly config: string },
  env: Readonly<Record<string, string | undefined>>,
): Config["database"] {
  const parsed = parseDatabase(parseYaml(text, file), env);
  if (parsed.ok) return parsed.database;
  throw invalid(parsed.complaints, file);
}

/**
 * Brings the schema up to date, or only asks whether this program works with it. Waits for a database that is away or refuses this user,
 * until `waitMs` are over. Raises what `migrate` raises, and the signal's reason.
 */
export async function runMigrate(request: MigrateRequest, signal: AbortSignal): Promise<SchemaReport> {
  const { url, isCheck, grantTo, note } = request;
  const grant = grantTo && { grant: { to: grantTo, when: "always" } as const };
  const log: Log = { ...silentLog, info: (fields, message) => note(progressText(fields, message)) };
  const attempt = async (limited: AbortSignal): Promise<Migrated> =>
    isCheck ? { applied: [], fit: await readSchemaFit({ url }, limited) } : migrate({ url, log, signal: limited, ...grant });
  const migrated = await inTime(request, attempt, signal);
  if (migrated.applied.length > 0 && whyNotServe(migrated.fit) === undefined) await recordOn(url, migrated.applied);
  return reportOf(migrated, request.version);
}

async function recordOn(url: string, applied: Migrated["applied"]): Promise<void> {
  const store = await createPostgresStore({ url, clock: systemClock, log: silentLog, metrics: noMetrics, poolSize: 1 });
  try {
    await recordMigrated(store.audit, applied);
  } finally {
    await store.close();
  }
}

/** What only takes time after an install: the server starts, its user and its database are made. */
const COMING: ReadonlySet<string> = new Set(["store.unavailable", "store.contended", "store.refused", "store.no-right"]);

async function inTime<T>(
  { waitMs, clock, rng, note }: MigrateRequest,
  attempt: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const endsMs = clock.monotonicMs() + waitMs;
  return keepTrying(
    attempt,
    {
      ...{ name: "database", clock, rng, readiness: createHealthRegistry() },
      log: { ...silentLog, warn: ({ err }) => note(`waiting for the database: ${errorText(err)}`) },
      whyWait(error) {
        const { code = "" } = error as { readonly code?: string };
        return COMING.has(code) && clock.monotonicMs() < endsMs ? whyWaitForDatabase(error) : undefined;
      },
    },
    signal,
  );
}

function progressText({ migration, seconds }: Readonly<Record<string, unknown>>, message: string): string {
  return typeof migration === "string" && typeof seconds === "number" ? `${migration} was run in ${seconds} s` : message;
}

function reportOf({ applied, fit }: Migrated, version: string): SchemaReport {
  const { code, sentence, remedy, known, newest, needs, pending } = fit;
  return {
    ...{ fits: whyNotServe(fit) === undefined, code, sentence, remedy, applied, pending },
    program: { version, newest: known },
    database: { newest: newest ?? null, needs: newest === undefined ? null : numberText(needs) },
  };
}

/** A report for people, as lines; the last one says it all. */
export function schemaLines({ program, database, applied, pending, sentence }: SchemaReport): string {
  const oldest =
    database.needs === null || Number(database.needs) === 0 ? "" : `; works with programs that know ${database.needs} or later`;
  const ran = applied.map(({ name, seconds }) => `ran       ${name} (${seconds} s)`);
  const left = pending.map((name) => `not run   ${name}`);
  return [
    `program   ${program.version}, knows migrations up to ${numberText(numberOf(program.newest))}`,
    `database  ${database.newest === null ? "has no schema" : `is at ${database.newest}${oldest}`}`,
    ...ran,
    ...left,
    applied.length === 0 ? sentence : `${applied.length} ${applied.length === 1 ? "file was" : "files were"} run; ${sentence}`,
  ].join("\n");
}
