import type { InstanceId } from "../../domain/ids.ts";
import type { WorkResult } from "../../runtime/keyed-queue.ts";
import { diffObject, planRemoval } from "../../shard/diff-object.ts";
import type { DesiredObject, ObjectAt, ObservedObject } from "../../shard/managed-object.ts";
import { renderClusterEntry, renderIdentity } from "../../shard/render-instance.ts";
import type { Destination, OwnNamespaces } from "../../shard/seat.ts";
import type { Log } from "../../telemetry/log.ts";
import type { ImpersonationController } from "../impersonation/controller.ts";
import type { Carrier, Settlement } from "../object/controller.ts";
import { allOrFirstFailure } from "../object/controller.ts";
import type { ApiCluster, ManagedObjects } from "../port.ts";
import type { Host, Hosts } from "../seats/controller.ts";
import type { SweepController } from "../sweep/controller.ts";

/** Gives an instance its identity on the API cluster and its entry for it, then sweeps what it holds; takes both back when it is retired. */
export interface InstanceController {
  reconcile(id: InstanceId, signal: AbortSignal): Promise<WorkResult | void>;
}

export interface InstanceControllerDeps {
  readonly hosts: Hosts;
  readonly carrier: Carrier;
  readonly apiCluster: ApiCluster;
  readonly impersonation: ImpersonationController;
  readonly sweep: SweepController;
  readonly destination: Destination;
  readonly namespaces: OwnNamespaces;
  readonly log: Log;
}

const UNSYNCED_RETRY_MS = 250;

export function createInstanceController(deps: InstanceControllerDeps): InstanceController {
  const { apiCluster, carrier, destination, namespaces } = deps;

  const put = <T extends ObservedObject>(
    name: string,
    objects: ManagedObjects<T>,
    desired: DesiredObject,
    signal: AbortSignal,
  ): Promise<Settlement<T>> =>
    carrier.carryOut({ objects, at: desired.at, plan: (observed: T | undefined) => diffObject(desired, observed), name }, signal);

  const take = <T extends ObservedObject>(name: string, objects: ManagedObjects<T>, at: ObjectAt, signal: AbortSignal): Promise<unknown> =>
    carrier.carryOut({ objects, at, plan: (observed: T | undefined) => planRemoval(observed), name }, signal);

  /** The read account's token; `undefined` until the cluster has made one, which is seen as a change of the Secret. */
  const identify = async (id: InstanceId, signal: AbortSignal): Promise<string | undefined> => {
    const identity = renderIdentity(id, namespaces);
    // The account first: a token Secret whose account is missing is removed by the cluster.
    await put("read-account", apiCluster.accounts, identity.account, signal);
    const [token] = await allOrFirstFailure([
      put("read-token", apiCluster.tokens, identity.token, signal),
      put("reader", apiCluster.readers, identity.reader, signal),
      put("impersonation-binding", apiCluster.bindings, identity.impersonation, signal),
      deps.impersonation.align(id, signal),
    ]);
    return token.kind === "settled" ? token.observed.token : undefined;
  };

  const fill = async (host: Host, signal: AbortSignal): Promise<void> => {
    const token = await identify(host.instance.id, signal);
    if (token === undefined) return deps.log.debug({ instance: host.instance.name }, "Waiting for the token of a read account");
    await put("cluster-entry", host.engine.entries, renderClusterEntry(host.instance, destination, token), signal);
    await deps.sweep.sweep(host, signal);
  };

  /** The account goes last: as long as it is there, something may be left to do. */
  const dismiss = async (id: InstanceId, signal: AbortSignal): Promise<void> => {
    const { account, token, reader, impersonation } = renderIdentity(id, namespaces);
    if (apiCluster.accounts.get(account.at) === undefined) return;
    await allOrFirstFailure([
      take("impersonation-binding", apiCluster.bindings, impersonation.at, signal),
      take("impersonation", apiCluster.roles, account.at, signal),
      take("reader", apiCluster.readers, reader.at, signal),
      take("read-token", apiCluster.tokens, token.at, signal),
    ]);
    await take("read-account", apiCluster.accounts, account.at, signal);
  };

  return {
    async reconcile(id, signal) {
      if (deps.hosts.isRetired(id) && apiCluster.isSynced()) return void (await dismiss(id, signal));
      const host = await deps.hosts.find(id, signal);
      if (host === undefined) return undefined;
      if (!host.engine.isSynced() || !apiCluster.isSynced()) return { requeueAfterMs: UNSYNCED_RETRY_MS };
      await fill(host, signal);
      return undefined;
    },
  };
}
