import type { InstanceId, UnitId } from "../../domain/ids.ts";
import { sharesEntry } from "../../domain/instance.ts";
import type { Destination, OwnNamespaces } from "../../shard/application-placement.ts";
import { unitFence } from "../../shard/application-placement.ts";
import type { ObservedObject } from "../../shard/managed-object.ts";
import { isWorkspaceReaderName, workspaceEntryName, workspaceReaderName } from "../../shard/names.ts";
import { unitOf } from "../../shard/parse-application.ts";
import { renderWorkspaceEntry } from "../../shard/render-instance.ts";
import { renderReader } from "../../shard/render-unit.ts";
import type { DesiredUnit, ShardStore } from "../../store/shard/port.ts";
import type { ObjectWriter } from "../apply-object.ts";
import { type Host, type PlacedUnit, placementOf } from "../find-hosts.ts";
import type { EntryTokens } from "../instances/keep-entry-token.ts";
import type { ApiCluster } from "../port.ts";
import { waits } from "../trouble.ts";
import { checkNamespace } from "./apply-owner-binding.ts";

/**
 * On an instance with an entry for each workspace: the entry by which it enters the API cluster for one unit, and the unit's account's right to
 * read there. On other instances there is nothing to do.
 */
export interface WorkspaceEntries {
  /**
   * Sees to it that both stand, the right before the entry: Argo CD leaves out of its cache, for hours, what it may not list. `account`: the unit's,
   * absent while a former one is on its way out. `isUnneeded`: nothing is deployed through the entry, which is removed. Returns what it waits for, for
   * people.
   */
  apply(
    placed: PlacedUnit,
    needed: { readonly account: ObservedObject | undefined; readonly isUnneeded: boolean },
    signal: AbortSignal,
  ): Promise<readonly string[]>;
  /** Removes the entry. Returns what that waits for, for people. */
  removeEntry(placed: PlacedUnit, signal: AbortSignal): Promise<readonly string[]>;
  /** Removes the right to read. Nobody waits for its end: the account goes too, and users may hold what stands in their namespaces. */
  removeReader(row: Pick<DesiredUnit, "unit" | "workspace">, instanceId: InstanceId, signal: AbortSignal): Promise<void>;
  /** Removes the rights to read of units with which the instance has nothing to do any more. Goes through those of all instances: for thorough sweeps. */
  removeLeftReaders(host: Host, signal: AbortSignal): Promise<void>;
}

export interface WorkspaceEntriesDeps {
  readonly shards: Pick<ShardStore, "listActing">;
  readonly apiCluster: Pick<ApiCluster, "bindings" | "readNamespaceUid">;
  readonly entryTokens: Pick<EntryTokens, "keep">;
  readonly writer: ObjectWriter;
  readonly destination: Destination;
  readonly namespaces: OwnNamespaces;
}

const ENTRY = "workspace-entry";
const READER = "workspace-reader";

export function createWorkspaceEntries(deps: WorkspaceEntriesDeps): WorkspaceEntries {
  const { apiCluster, writer, destination, namespaces } = deps;
  const { bindings } = apiCluster;

  const applyReader = async ({ row, host }: PlacedUnit, signal: AbortSignal): Promise<readonly string[]> => {
    // In a namespace that is gone nothing can be made, and in another one of its name nothing may be.
    if (row.workspace.state === "deleting") return [];
    const desired = renderReader({ ...row, instance: host.instance }, namespaces);
    await checkNamespace(apiCluster, row, desired, signal);
    const end = await writer.put({ objects: bindings, desired, name: READER }, signal);
    return end.kind === "settled" ? [] : [waits.going("the former right to read the workspace's namespace")];
  };

  const removeEntry = async ({ row, host }: PlacedUnit, signal: AbortSignal): Promise<readonly string[]> => {
    const at = { namespace: host.instance.namespace, name: workspaceEntryName(row.unit.id) };
    const { entries } = host.engine;
    if (sharesEntry(host.instance)) return [];
    const end = await writer.remove({ objects: entries, at, name: ENTRY, fence: unitFence(row.unit) }, signal);
    return end.kind === "await-end" ? [waits.going("the workspace's former cluster entry")] : [];
  };

  const removeReaderAt = async (unit: UnitId, namespace: string, instanceId: InstanceId, signal: AbortSignal): Promise<void> => {
    const at = { namespace, name: workspaceReaderName(unit, instanceId) };
    if (bindings.get(at) !== undefined) await writer.remove({ objects: bindings, at, name: READER }, signal);
  };

  return {
    async apply(placed, { account, isUnneeded }, signal) {
      const { instance } = placed.host;
      if (sharesEntry(instance)) return [];
      const left = await applyReader(placed, signal);
      if (isUnneeded) return [...left, ...(await removeEntry(placed, signal))];
      if (account === undefined || left.length > 0) return left;
      const placement = placementOf(placed);
      const at = { namespace: instance.namespace, name: workspaceEntryName(placed.row.unit.id) };
      const { isSettled } = await deps.entryTokens.keep(
        { host: placed.host, at, account, render: (content) => renderWorkspaceEntry(placement, destination, content) },
        signal,
      );
      return isSettled ? [] : [waits.going("the workspace's former cluster entry")];
    },
    removeEntry,
    removeReader: ({ unit, workspace }, instanceId, signal) => removeReaderAt(unit.id, workspace.namespace, instanceId, signal),
    async removeLeftReaders({ instance: { id, namespace, entries }, engine }, signal) {
      if (entries !== "per-workspace") return;
      const inUse = new Set(engine.applications.list(namespace).flatMap((one) => unitOf(one) ?? []));
      const readers = bindings.list().flatMap((one) => {
        const unit = isWorkspaceReaderName(one.at.name) ? unitOf(one) : undefined;
        return unit !== undefined && one.at.name === workspaceReaderName(unit, id) && !inUse.has(unit) ? [{ unit, at: one.at }] : [];
      });
      if (readers.length === 0) return;
      // Read after the bindings were seen: rows are written first.
      const acting = new Set(await deps.shards.listActing(id, signal));
      for (const { unit, at } of readers) if (!acting.has(unit)) await removeReaderAt(unit, at.namespace, id, signal);
    },
  };
}
