import type { WorkspaceId } from "../../domain/ids.ts";

/** Environments that wait for an owner of their workspace's unit, by key. Lost on a restart, when all of them are looked at anyway. */
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
