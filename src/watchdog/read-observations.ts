import type { InstanceId } from "../domain/ids.ts";
import type { Instance } from "../domain/instance.ts";
import type { SeenApplication } from "../domain/seen-application.ts";
import type { ApplicationsSeen, ControllersSeen } from "./port.ts";

/**
 * The Applications on each instance that can be reached: as its API server lists them where they are to be `listed`, else as a watch has reported them; listed too where none
 * does. Clusters are read in parallel, so that one that does not answer delays no other; the instances of a cluster one after the other, those to be listed first.
 */
export async function readSeen(
  applications: ApplicationsSeen,
  { instances, listed }: { readonly instances: readonly Instance[]; readonly listed: ReadonlySet<string> },
  signal: AbortSignal,
): Promise<ReadonlyMap<InstanceId, readonly SeenApplication[]>> {
  const seen = new Map<InstanceId, readonly SeenApplication[]>();
  const readAll = async (some: readonly Instance[]): Promise<void> => {
    for (const instance of some.toSorted((a, b) => Number(listed.has(b.id)) - Number(listed.has(a.id)))) {
      const found = (listed.has(instance.id) ? undefined : applications.reported(instance)) ?? (await applications.list(instance, signal));
      // Its other instances cannot be reached either, and each would cost one more timeout.
      if (found === undefined) return;
      seen.set(instance.id, found);
    }
  };
  await Promise.all([...Map.groupBy(instances, ({ engineCluster }) => engineCluster).values()].map(readAll));
  return seen;
}

/**
 * How many controllers of a cluster are asked at the same time. One that hangs costs a timeout, and all of them
 * together cost no more.
 */
const ASKED_AT_ONCE = 25;

/** Finds the instances whose controllers were asked and did not answer. Clusters are asked in parallel. */
export async function readSilent(
  controllers: ControllersSeen,
  instances: readonly Instance[],
  signal: AbortSignal,
): Promise<ReadonlySet<InstanceId>> {
  const silent = new Set<InstanceId>();
  const askAll = async ([cluster, some]: readonly [string, readonly Instance[]]): Promise<void> => {
    const ask = await controllers.on(cluster, signal);
    if (ask === undefined) return;
    for (let from = 0; from < some.length; from += ASKED_AT_ONCE) {
      const asked = some.slice(from, from + ASKED_AT_ONCE);
      const answers = await Promise.all(asked.map(({ namespace }) => ask(namespace, signal)));
      for (const [index, { id }] of asked.entries()) if (answers[index] === false) silent.add(id);
    }
  };
  await Promise.all([...Map.groupBy(instances, ({ engineCluster }) => engineCluster)].map(askAll));
  return silent;
}
