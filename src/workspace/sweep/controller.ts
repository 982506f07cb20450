import type { Partition } from "../../domain/partition.ts";
import type { IntentStore } from "../../store/intent/port.ts";
import { type KnownRow, planSweep, wishOf } from "../intent/plan-sweep.ts";
import { deploymentKey } from "../keys.ts";
import type { UserResources } from "../port.ts";
import type { RowIndex } from "../row-index.ts";

export interface SweepDeps {
  readonly apiCluster: string;
  readonly intents: IntentStore;
  readonly resources: UserResources;
  readonly rows: RowIndex;
  readonly partition: Partition;
}

/**
 * Compares all rows of the cluster with all resources; returns the keys that have to be looked at. A row whose resource
 * cannot be seen is only called gone when the API server says so: what is kept here may be behind, and a deletion cannot be
 * taken back.
 */
export function createSweep({
  apiCluster,
  intents,
  resources,
  rows,
  partition,
}: SweepDeps): (signal: AbortSignal) => Promise<readonly string[]> {
  const keyOf = (at: { readonly namespace: string; readonly name: string }): string => deploymentKey(apiCluster, at);

  async function findGone(suspects: readonly KnownRow[], signal: AbortSignal): Promise<readonly string[]> {
    const gone: string[] = [];
    for (const row of suspects) {
      if ((await resources.readUid(row, signal)) === row.uid) continue;
      rows.saw(keyOf(row), row.uid);
      gone.push(keyOf(row));
    }
    return gone;
  }

  return async (signal) => {
    const known = await intents.listKnown(apiCluster, signal);
    const present = resources.deployments();
    for (const row of known) rows.recorded(keyOf(row), row);
    const uids = new Set(present.map(({ uid }) => uid));
    rows.keepOnly(new Map(known.map((row) => [row.applicationId, row.uid])), (_key, uid) => uids.has(uid));
    const isRecorded = (resource: (typeof present)[number]): boolean => rows.hasWish(resource.uid, wishOf(resource));
    const plan = planSweep({ cluster: apiCluster, rows: known, resources: present, isMine: partition.isMine, isRecorded });
    return [...plan.keys, ...(await findGone(plan.suspects, signal))];
  };
}
