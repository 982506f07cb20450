import type { InstanceId } from "../domain/ids.ts";
import type { Instance } from "../domain/instance.ts";
import type { SeenApplication } from "../domain/seen-application.ts";
import type { OwnedApplication, OwnershipStore } from "../store/port.ts";
import type { ApplicationsSeen, ControllersSeen } from "./port.ts";

const PAGE = 5_000;

/** Who has to work for what, in bounded pages. */
export async function readOwned(store: OwnershipStore, signal: AbortSignal): Promise<readonly OwnedApplication[]> {
  const all: OwnedApplication[] = [];
  for (let after = ""; ; after = all.at(-1)?.id ?? "") {
    const page = await store.listOwned({ after, limit: PAGE }, signal);
    all.push(...page);
    if (page.length < PAGE) return all;
  }
}

/** What stands on each instance that can be reached: clusters beside each other, so that a silent one holds up no other, their instances in turn. */
export async function readSeen(
  applications: ApplicationsSeen,
  instances: readonly Instance[],
  signal: AbortSignal,
): Promise<ReadonlyMap<InstanceId, readonly SeenApplication[]>> {
  const seen = new Map<InstanceId, readonly SeenApplication[]>();
  const readAll = async (some: readonly Instance[]): Promise<void> => {
    for (const instance of some) {
      const found = await applications.list(instance, signal);
      // Its other instances cannot be reached either, and each would take as long to say so.
      if (found === undefined) return;
      seen.set(instance.id, found);
    }
  };
  await Promise.all([...Map.groupBy(instances, ({ engineCluster }) => engineCluster).values()].map(readAll));
  return seen;
}

/** Asked at once of a cluster: each that stands still takes as long to show it as all of them. */
const ASKED_AT_ONCE = 25;

/** Instances whose controllers were asked and said nothing; clusters beside each other. */
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
