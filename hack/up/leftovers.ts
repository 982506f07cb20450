import { stopLeftovers as stopLeftCluster } from "../dev-cluster/state-directory.ts";
import { stopLeftArgosy } from "../fleet/argosy-process.ts";
import { deleteKindCluster } from "./cluster/kind.ts";
import { stopLeftDatabases } from "./database.ts";
import type { StateDirectory } from "./state-directory.ts";

/**
 * Ends the processes of a killed supervisor that a new one starts again: control plane and development cluster. To be
 * called by the process that has claimed the state directory. Returns how many there were.
 */
export async function stopLeftProcesses(state: StateDirectory): Promise<number> {
  return (await stopLeftArgosy(state.path("log"))) + (await stopLeftCluster(state.path("cluster")));
}

/** The same, with what a new supervisor would take over as it is: the embedded database and our kind cluster. */
export async function stopLeftEverything(state: StateDirectory): Promise<number> {
  const processes = await stopLeftProcesses(state);
  const databases = await stopLeftDatabases(state);
  return processes + databases + Number(await deleteKindCluster(state));
}
