import { isFinished } from "../../domain/sync-run.ts";
import type { SyncRunStore } from "../../store/sync-run/port.ts";
import { resourceKey } from "../keys.ts";
import { type KnownRunRow, planRunSweep } from "./plan-run-sweep.ts";
import type { RunResources } from "./port.ts";
import type { RunIndex } from "./run-index.ts";

export interface RunSweepDeps {
  readonly apiCluster: string;
  readonly syncRuns: Pick<SyncRunStore, "listKnown">;
  readonly runs: Pick<RunResources, "list" | "readUid">;
  readonly index: Pick<RunIndex, "saw" | "recorded" | "keyOf">;
  readonly partition: { isMine(namespace: string): boolean };
}

/** Compares all rows of the cluster with all runs. Resolves to the keys that have to be reconciled. */
export async function sweepRuns(deps: RunSweepDeps, signal: AbortSignal): Promise<readonly string[]> {
  const { apiCluster, syncRuns, runs, index, partition } = deps;
  const rows = await syncRuns.listKnown(apiCluster, signal);
  for (const row of rows) {
    const key = resourceKey(apiCluster, row);
    if (index.keyOf(row.uid) === undefined) index.recorded(key, { uid: row.uid, isFinished: isFinished(row.phase) });
  }
  const plan = planRunSweep({ cluster: apiCluster, rows, resources: runs.list(), isMine: partition.isMine });
  return [...plan.keys, ...(await findGone(deps, plan.suspects, signal))];
}

/** A row whose resource is not seen counts as gone only when the API server says so: the watch may be behind. */
async function findGone(
  { apiCluster, runs, index }: RunSweepDeps,
  suspects: readonly KnownRunRow[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const gone: string[] = [];
  for (const row of suspects) {
    if ((await runs.readUid(row, signal)) === row.uid) continue;
    const key = resourceKey(apiCluster, row);
    index.saw(key, row.uid);
    gone.push(key);
  }
  return gone;
}
