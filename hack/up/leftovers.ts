import { existsSync } from "node:fs";
import { startEmbeddedPostgres } from "../../src/runtime/embedded-postgres/embedded-postgres.ts";
import { silentLog } from "../../src/telemetry/log.ts";
import { stopLeftovers as stopLeftCluster } from "../dev-cluster/state-directory.ts";
import { stopLeftArgosy } from "../fleet/argosy-process.ts";
import { deleteKindCluster } from "./cluster/kind.ts";
import { dataDirectory } from "./database.ts";
import type { StateDirectory } from "./state-directory.ts";

/**
 * Ends the processes that a killed supervisor left and that a new one starts afresh: control plane and development cluster.
 * To be called by whoever has claimed the state directory. Returns how many there were.
 */
export async function stopLeftProcesses(state: StateDirectory): Promise<number> {
  return (await stopLeftArgosy(state.path("log"))) + (await stopLeftCluster(state.path("cluster")));
}

/** The same with everything a new supervisor would take over as it is: the embedded database and our kind cluster. */
export async function stopLeftEverything(state: StateDirectory): Promise<number> {
  const processes = await stopLeftProcesses(state);
  const database = await stopLeftDatabase(state);
  return processes + Number(database) + Number(await deleteKindCluster(state));
}

/** PostgreSQL outlives a killed supervisor; whoever joins it as its only user ends it by leaving. */
async function stopLeftDatabase(state: StateDirectory): Promise<boolean> {
  const stateDir = dataDirectory(state);
  if (!existsSync(`${stateDir}/postgres/data/postmaster.pid`)) return false;
  const joined = await startEmbeddedPostgres({ stateDir, signal: AbortSignal.timeout(60_000), log: silentLog });
  await joined.stop();
  return joined.reused;
}
