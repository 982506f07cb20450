import type { UnitId, WorkspaceId } from "../../domain/ids.ts";
import type { Partition } from "../../domain/partition.ts";
import { createPasses, type Passes } from "../../runtime/resource-controller/passes.ts";
import type { EnvironmentStore, KnownEnvironment } from "../../store/environment/port.ts";
import type { PlacementStore } from "../../store/placement/port.ts";
import { resourceKey } from "../keys.ts";
import type { UserKindResources } from "../port.ts";
import type { Teardown } from "./tear-down-environment.ts";

export interface EnvironmentSweepDeps {
  readonly apiCluster: string;
  readonly environments: Pick<EnvironmentStore, "listKnown" | "listLeaving" | "listWithoutAccount">;
  readonly placements: Pick<PlacementStore, "readUnitsOf">;
  readonly resources: Pick<UserKindResources, "get">;
  readonly teardown: Pick<Teardown, "saw">;
  readonly awaited: AwaitedOwners;
  readonly partition: Pick<Partition, "isMine">;
}

/** Environments compared by one run, which is due each minute. */
const ENVIRONMENTS_A_RUN = 1_000;

/**
 * Adds the keys of rows whose resource cannot be seen, and of those where an owner has no account, page by page; and with each run of those that wait for their
 * end.
 */
export function createRowSweep(
  { apiCluster, environments, resources, teardown, partition }: Omit<EnvironmentSweepDeps, "placements" | "awaited">,
  add: (keys: readonly string[]) => void,
): Passes {
  const keyOf = (row: KnownEnvironment): string => resourceKey(apiCluster, row);
  const passes = createPasses<KnownEnvironment>({
    size: ENVIRONMENTS_A_RUN,
    list: (page, signal) => environments.listKnown(apiCluster, page, signal),
    keyOf: ({ id }) => id,
    async visit(known, signal) {
      const rows = known.filter(({ namespace }) => partition.isMine(namespace));
      for (const row of rows) teardown.saw(keyOf(row), row.uid);
      add(rows.filter((row) => resources.get(row)?.uid !== row.uid).map(keyOf));
      const connected = rows.flatMap(({ id, state }) => (state === "connected" ? [id] : []));
      if (connected.length === 0) return;
      add((await environments.listWithoutAccount({ apiCluster, environments: connected, units: [] }, signal)).map(keyOf));
    },
  });
  return {
    ...passes,
    async run(signal) {
      await passes.run(signal);
      const leaving = (await environments.listLeaving(apiCluster, signal)).filter(({ namespace }) => partition.isMine(namespace));
      for (const row of leaving) teardown.saw(keyOf(row), row.uid);
      add(leaving.map(keyOf));
    },
  };
}

/** Reconciles environments that waited for an owner and have one now, and those where the owner of a unit that has changed has no account. */
export async function findAwaitedOwners(
  { apiCluster, environments, placements, awaited }: Pick<EnvironmentSweepDeps, "apiCluster" | "environments" | "placements" | "awaited">,
  units: readonly UnitId[],
  review: (keys: readonly string[]) => void,
  signal: AbortSignal,
): Promise<void> {
  for (const workspaceId of awaited.workspaces()) {
    const held = await placements.readUnitsOf(workspaceId, signal);
    // At once: what is taken here waits no longer, and would be lost if a later read failed.
    if (held.some(({ owner }) => owner !== undefined)) review(awaited.take(workspaceId));
  }
  if (units.length === 0) return;
  const withoutAccount = await environments.listWithoutAccount({ apiCluster, environments: [], units }, signal);
  review(withoutAccount.map((row) => resourceKey(apiCluster, row)));
}

/** Reconciles environments that were withheld since the last time, so that their users hear of it. */
export function createWithheldSweep({
  apiCluster,
  environments,
  partition,
}: Pick<EnvironmentSweepDeps, "apiCluster" | "partition"> & { readonly environments: Pick<EnvironmentStore, "listWithheld"> }) {
  let known = new Set<string>();
  return async (review: (keys: readonly string[]) => void, signal: AbortSignal): Promise<void> => {
    const rows = (await environments.listWithheld(apiCluster, signal)).filter(({ namespace }) => partition.isMine(namespace));
    const markOf = ({ uid, withheld }: (typeof rows)[number]): string => `${uid} ${withheld.at}`;
    const before = known;
    known = new Set(rows.map(markOf));
    review(rows.filter((row) => !before.has(markOf(row))).map((row) => resourceKey(apiCluster, row)));
  };
}

export type AwaitedOwners = ReturnType<typeof createAwaitedOwners>;

/** Environments that wait for an owner of their workspace's unit, by key. Lost on a restart, when all of them are reconciled anyway. */
export function createAwaitedOwners() {
  const waiting = new Map<string, WorkspaceId>();
  return {
    await: (key: string, workspaceId: WorkspaceId): void => void waiting.set(key, workspaceId),
    /** Sorted. */
    workspaces: (): readonly WorkspaceId[] => [...new Set(waiting.values())].sort(),
    /** Keys of the workspace's environments, which wait no longer. */
    take(workspaceId: WorkspaceId): readonly string[] {
      const keys = [...waiting].filter(([, each]) => each === workspaceId).map(([key]) => key);
      for (const key of keys) waiting.delete(key);
      return keys;
    },
  };
}
