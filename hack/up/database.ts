import process from "node:process";
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
  return progress.step("starting the embedded PostgreSQL", () =>
    startEmbeddedPostgres({ stateDir: state.path("postgres"), signal, log: silentLog }),
  );
}
