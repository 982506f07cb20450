import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { InputError, UnavailableError } from "../../src/domain/errors.ts";
import { sha256 } from "../../src/domain/hash.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../src/runtime/embedded-postgres/embedded-postgres.ts";
import { migrate } from "../../src/store/adapters/postgres/migrate.ts";
import { silentLog } from "../../src/telemetry/log.ts";
import { startTicks } from "../dev-cluster/processes/proc.ts";
import type { Part } from "./keep-running.ts";
import type { Progress } from "./progress.ts";
import type { StateDirectory } from "./state-directory.ts";

export interface ProvidedDatabase {
  readonly url: string;
  /** The server, if it is ours to keep running. */
  readonly parts: readonly Part[];
  stop(): Promise<void>;
}

interface DatabaseParts {
  readonly state: StateDirectory;
  readonly progress: Progress;
  /**
   * Which cluster the embedded database is for. Empty: the development cluster. Rows of another cluster's instances
   * would name objects that do not exist.
   */
  readonly cluster: string;
}

/** The PostgreSQL of DATABASE_URL, else the embedded one with its data in the state directory. */
export async function provideDatabase({ state, progress, cluster }: DatabaseParts, signal: AbortSignal): Promise<ProvidedDatabase> {
  const named = process.env["DATABASE_URL"];
  if (named !== undefined && named !== "") {
    progress.say("  database: the one DATABASE_URL names");
    await progress.step("reaching the database and preparing its tables", () => prepare(named, signal));
    return { url: named, parts: [], stop: async () => {} };
  }
  progress.say("  database: the embedded PostgreSQL, because DATABASE_URL is not set");
  const stateDir = dataDirectory(state, cluster);
  if (!stateDir.startsWith(state.root)) progress.say(`  database: its data is in ${stateDir}, because only root gets into ${state.root}`);
  const first = await progress.step("starting the embedded PostgreSQL", () => startEmbeddedPostgres({ stateDir, signal, log: silentLog }));
  return embedded(stateDir, first);
}

/** The embedded server. It keeps its address when it is started again. */
function embedded(stateDir: string, first: EmbeddedPostgres): ProvidedDatabase {
  let server = first;
  const part: Part = {
    name: "PostgreSQL",
    logFile: join(stateDir, "postgres", "server.log"),
    ended: () => whenGone(server.pid),
    async restart(signal) {
      await server.stop();
      server = await startEmbeddedPostgres({ stateDir, port: Number(new URL(first.url).port), signal, log: silentLog });
    },
  };
  return { url: first.url, parts: [part], stop: () => server.stop() };
}

const OBSERVE_EVERY_MS = 200;

/** An earlier supervisor may have started it. So its end is polled, and how it ended is not known. */
async function whenGone(pid: number): Promise<number> {
  const ticks = startTicks(pid);
  while (ticks !== undefined && startTicks(pid) === ticks) await sleep(OBSERVE_EVERY_MS, undefined, { ref: false });
  return 255;
}

/**
 * PostgreSQL outlives a killed supervisor. A process that joins as its only user ends it by leaving. Returns how many
 * databases of the state directory ran.
 */
export async function stopLeftDatabases(state: StateDirectory): Promise<number> {
  const first = dataDirectory(state, "");
  const names = existsSync(dirname(first)) ? readdirSync(dirname(first)) : [];
  const own = names.filter((name) => name === basename(first) || name.startsWith(`${basename(first)}-`));
  let count = 0;
  for (const name of own) count += Number(await stopLeft(join(dirname(first), name)));
  return count;
}

async function stopLeft(stateDir: string): Promise<boolean> {
  if (!existsSync(join(stateDir, "postgres", "data", "postmaster.pid"))) return false;
  const joined = await startEmbeddedPostgres({ stateDir, signal: AbortSignal.timeout(PREPARE_MS), log: silentLog });
  await joined.stop();
  return joined.reused;
}

/** Deletes the embedded database of a cluster that no longer exists. */
export async function forgetDatabase(state: StateDirectory, cluster: string): Promise<void> {
  const stateDir = dataDirectory(state, cluster);
  await stopLeft(stateDir);
  rmSync(stateDir, { recursive: true, force: true });
}

/** How long a database may take to answer and be prepared, in ms. */
const PREPARE_MS = 60_000;

/** Throws `InputError` with what is wrong with the database of DATABASE_URL. */
async function prepare(url: string, signal: AbortSignal): Promise<void> {
  try {
    await migrate({ url, log: silentLog, signal: AbortSignal.any([signal, AbortSignal.timeout(PREPARE_MS)]) });
  } catch (error) {
    throw signal.aborted ? error : databaseError(error);
  }
}

/** The store's finding, for somebody who has set DATABASE_URL and has no configuration file. */
export function databaseError(error: unknown): unknown {
  const given = { code: "up.database", path: "DATABASE_URL", cause: error } as const;
  if (error instanceof InputError) return new InputError(error.message, { ...given, remedy: error.remedy });
  if (!(error instanceof UnavailableError) && (error as Error).name !== "TimeoutError") return error;
  const { cause } = error as Error;
  const reason = cause instanceof AggregateError ? String(cause.errors[0]?.message) : cause instanceof Error ? cause.message : "no answer";
  return new InputError(`the database does not answer (${reason})`, {
    ...given,
    remedy: "Start it or correct the address, or unset DATABASE_URL to use the embedded PostgreSQL",
  });
}

/**
 * PostgreSQL refuses to run as root. It then runs as a user without rights, who has to reach its data. Below a
 * directory that is closed to others (a checkout in root's home directory) that is not possible, so the data is kept
 * elsewhere, in one directory for each state directory.
 */
function dataDirectory(state: StateDirectory, cluster: string): string {
  const isApart = process.getuid?.() === 0 && isClosed(dirname(state.root));
  const first = isApart ? join("/var/lib/argosy", sha256(state.root).slice(0, 16)) : state.path("postgres");
  return cluster === "" ? first : `${first}-${cluster}`;
}

function isClosed(directory: string): boolean {
  const isOpen = (statSync(directory).mode & 0o001) !== 0;
  return !isOpen || (dirname(directory) !== directory && isClosed(dirname(directory)));
}
