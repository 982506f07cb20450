import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { sha256 } from "../../src/domain/hash.ts";
import { startEmbeddedPostgres } from "../../src/runtime/embedded-postgres/embedded-postgres.ts";
import { silentLog } from "../../src/telemetry/log.ts";
import type { Progress } from "./progress.ts";
import type { StateDirectory } from "./state-directory.ts";

export interface ProvidedDatabase {
  readonly url: string;
  stop(): Promise<void>;
}

/** The PostgreSQL that DATABASE_URL names, else the embedded one with its data in the state directory. */
export async function provideDatabase(state: StateDirectory, progress: Progress, signal: AbortSignal): Promise<ProvidedDatabase> {
  const named = process.env["DATABASE_URL"];
  if (named !== undefined && named !== "") {
    progress.say("  database: the one DATABASE_URL names");
    return { url: named, stop: async () => {} };
  }
  const stateDir = dataDirectory(state);
  if (!stateDir.startsWith(state.root)) progress.say(`  database: its data is in ${stateDir}, because only root gets into ${state.root}`);
  return progress.step("starting the embedded PostgreSQL", () => startEmbeddedPostgres({ stateDir, signal, log: silentLog }));
}

/**
 * PostgreSQL refuses to run as root and then runs as a user without rights, who must get to its data. Below a directory that is
 * closed to others (a checkout in root's home) it cannot: there the data is kept apart, one directory for each state directory.
 */
function dataDirectory(state: StateDirectory): string {
  const isRoot = process.getuid?.() === 0;
  return isRoot && isClosed(dirname(state.root)) ? join("/var/lib/argosy", sha256(state.root).slice(0, 16)) : state.path("postgres");
}

function isClosed(directory: string): boolean {
  const isOpen = (statSync(directory).mode & 0o001) !== 0;
  return !isOpen || (dirname(directory) !== directory && isClosed(dirname(directory)));
}
