import { StaleError } from "../../domain/errors.ts";
import type { InstanceId, UnitId } from "../../domain/ids.ts";
import type { Batcher } from "../../runtime/batcher.ts";
import { createBatcher } from "../../runtime/batcher.ts";
import type { OwnNamespaces } from "../../shard/application-placement.ts";
import { diffObject } from "../../shard/diff-object.ts";
import { accountName, readAccountName } from "../../shard/names.ts";
import { holderOf } from "../../shard/parse-application.ts";
import type { ObservedRole } from "../../shard/parse-rights.ts";
import { renderImpersonation } from "../../shard/render-instance.ts";
import type { ShardStore } from "../../store/shard/port.ts";
import type { ApiCluster } from "../port.ts";

/** Keeps the one Role of each instance that says as whose accounts its read account may act. */
export interface Impersonation {
  /** Sees to it that the instance may act as this unit's account. Many at once become one write. */
  grant(instanceId: InstanceId, unitId: UnitId, signal: AbortSignal): Promise<void>;
  /** Makes the Role name exactly the accounts of the units that the instance holds now, or has to do with in a live move. */
  align(instanceId: InstanceId, signal: AbortSignal): Promise<void>;
  /** As `align`, unless nothing says that the Role may be another than it should be since it was last aligned by this process. */
  alignIfChanged(instanceId: InstanceId, signal: AbortSignal): Promise<void>;
}

export interface ImpersonationDeps {
  readonly shards: Pick<ShardStore, "listActing">;
  readonly apiCluster: Pick<ApiCluster, "roles" | "accounts">;
  readonly namespaces: OwnNamespaces;
  /** Aborts when the reconciler stops. */
  readonly signal: AbortSignal;
}

/** How an instance's Role was left. */
interface Alignment {
  /** Absent: it is not done, or an account that it names is not there: its unit is on its way to the instance, or away from it. */
  version?: string | undefined;
}

const ATTEMPTS = 4;
const BATCH_SIZE = 1000;

export function createImpersonation({ shards, apiCluster, namespaces, signal: stopping }: ImpersonationDeps): Impersonation {
  const { roles, accounts } = apiCluster;
  const batchers = new Map<InstanceId, Batcher<undefined, undefined>>();
  const alignments = new Map<InstanceId, Alignment>();
  // A unit's account goes when the unit has left. One that comes is granted by who makes it.
  const end = accounts.subscribe((change) => {
    const holder = change.kind === "delete" ? holderOf(change.before) : undefined;
    if (holder !== undefined) alignments.delete(holder);
  });
  stopping.addEventListener("abort", end, { once: true });
  const roleAt = (id: InstanceId) => ({ namespace: namespaces.accounts, name: readAccountName(id) });
  const hasAccount = (unit: UnitId, id: InstanceId): boolean =>
    accounts.get({ namespace: namespaces.accounts, name: accountName(unit, id) }) !== undefined;

  const alignOnce = async (instanceId: InstanceId, seen: ObservedRole | undefined, signal: AbortSignal): Promise<void> => {
    // The Role was read before the rows are: whoever wrote it after newer rows makes this write fail.
    const alignment: Alignment = {};
    alignments.set(instanceId, alignment);
    const acting = await shards.listActing(instanceId, signal);
    const action = diffObject(renderImpersonation(instanceId, acting, namespaces), seen);
    if (action.kind === "create") await roles.create(action.manifest, signal);
    if (action.kind === "change") await roles.patch(action.at, action.patch, signal);
    if (acting.every((unit) => hasAccount(unit, instanceId))) alignment.version = roles.get(roleAt(instanceId))?.resourceVersion;
  };

  const align = async (instanceId: InstanceId, signal: AbortSignal): Promise<void> => {
    const at = roleAt(instanceId);
    for (let attempt = 1; ; attempt += 1) {
      const seen = attempt === 1 ? roles.get(at) : await roles.read(at, signal);
      try {
        return await alignOnce(instanceId, seen, signal);
      } catch (error) {
        if (!(error instanceof StaleError) || attempt === ATTEMPTS) throw error;
      }
    }
  };

  const batcherOf = (instanceId: InstanceId): Batcher<undefined, undefined> => {
    const known = batchers.get(instanceId);
    if (known !== undefined) return known;
    const made = createBatcher<undefined, undefined>({
      maxSize: BATCH_SIZE,
      async flush(asks, signal) {
        await align(instanceId, signal);
        return asks.map(() => undefined);
      },
    });
    batchers.set(instanceId, made);
    return made;
  };

  return {
    async grant(instanceId, unitId, signal) {
      const role = roles.get(roleAt(instanceId));
      if (role?.resourceNames.has(accountName(unitId, instanceId))) return;
      await batcherOf(instanceId).add(undefined, signal);
    },
    align: (instanceId, signal) => batcherOf(instanceId).add(undefined, signal),
    async alignIfChanged(instanceId, signal) {
      const version = alignments.get(instanceId)?.version;
      if (version === undefined || version !== roles.get(roleAt(instanceId))?.resourceVersion)
        await batcherOf(instanceId).add(undefined, signal);
    },
  };
}
