import type { WorkspaceId } from "../../domain/ids.ts";
import type { Partition } from "../../domain/partition.ts";
import type { EnvironmentStore } from "../../store/environment/port.ts";
import type { PlacementStore } from "../../store/placement/port.ts";
import { resourceKey } from "../keys.ts";
import type { UserKindResources } from "../port.ts";
import type { Teardown } from "./tear-down-environment.ts";

export interface EnvironmentSweepDeps {
  readonly apiCluster: string;
  readonly environments: Pick<EnvironmentStore, "listKnown" | "listWithoutAccount">;
  readonly placements: Pick<PlacementStore, "readUnitsOf">;
  readonly resources: Pick<UserKindResources, "get">;
  readonly teardown: Pick<Teardown, "saw">;
  readonly awaited: AwaitedOwners;
  readonly partition: Pick<Partition, "isMine">;
}

/** Resolves to the keys of rows whose resource cannot be seen, and of those that wait for their end. */
export async function findEndingEnvironments(deps: EnvironmentSweepDeps, signal: AbortSignal): Promise<readonly string[]> {
  const { apiCluster, environments, resources, teardown, partition } = deps;
  const rows = (await environments.listKnown(apiCluster, signal)).filter(({ namespace }) => partition.isMine(namespace));
  for (const row of rows) teardown.saw(resourceKey(apiCluster, row), row.uid);
  const suspects = rows.filter((row) => row.state === "leaving" || resources.get(row)?.uid !== row.uid);
  return suspects.map((row) => resourceKey(apiCluster, row));
}

/** Reconciles environments that waited for an owner and have one now, and those whose owner has no account. */
export async function findAwaitedOwners(
  { apiCluster, environments, placements, awaited }: EnvironmentSweepDeps,
  review: (keys: readonly string[]) => void,
  signal: AbortSignal,
): Promise<void> {
  for (const workspaceId of awaited.workspaces()) {
    const units = await placements.readUnitsOf(workspaceId, signal);
    // At once: what is taken here waits no longer, and would be lost if a later read failed.
    if (units.some(({ owner }) => owner !== undefined)) review(awaited.take(workspaceId));
  }
  const withoutAccount = await environments.listWithoutAccount(apiCluster, signal);
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
