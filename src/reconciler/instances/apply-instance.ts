import type { InstanceId } from "../../domain/ids.ts";
import type { WorkResult } from "../../runtime/keyed-queue.ts";
import type { Destination, OwnNamespaces } from "../../shard/application-placement.ts";
import { renderClusterEntry, renderIdentity } from "../../shard/render-instance.ts";
import type { Log } from "../../telemetry/log.ts";
import { allOrFirstFailure, type ObjectWriter } from "../apply-object.ts";
import { type Host, type Hosts, UNLISTED_AGAIN_MS } from "../find-hosts.ts";
import type { ApiCluster } from "../port.ts";
import type { Impersonation } from "../units/grant-impersonation.ts";
import type { InstanceSweep } from "./sweep-instance.ts";

export interface ApplyInstanceDeps {
  readonly hosts: Hosts;
  readonly writer: ObjectWriter;
  readonly apiCluster: ApiCluster;
  readonly impersonation: Pick<Impersonation, "align">;
  readonly sweep: Pick<InstanceSweep, "sweep">;
  readonly destination: Destination;
  readonly namespaces: OwnNamespaces;
  readonly log: Log;
}

/**
 * Returns what gives an instance its identity on the API cluster and its entry for that cluster, then sweeps what it holds. When the
 * instance is retired, it takes both back.
 */
export function createApplyInstance(deps: ApplyInstanceDeps) {
  const { apiCluster, writer, destination, namespaces } = deps;

  /** The read account's token; `undefined` until the cluster has made one, which is seen as a change of the Secret. */
  const applyIdentity = async (id: InstanceId, signal: AbortSignal): Promise<string | undefined> => {
    const { account, token, reader, impersonation } = renderIdentity(id, namespaces);
    // The account first: a token Secret whose account is missing is removed by the cluster.
    await writer.put({ name: "read-account", objects: apiCluster.accounts, desired: account }, signal);
    const [end] = await allOrFirstFailure([
      writer.put({ name: "read-token", objects: apiCluster.tokens, desired: token }, signal),
      writer.put({ name: "reader", objects: apiCluster.readers, desired: reader }, signal),
      writer.put({ name: "impersonation-binding", objects: apiCluster.bindings, desired: impersonation }, signal),
      deps.impersonation.align(id, signal),
    ]);
    return end.kind === "settled" ? end.observed.token : undefined;
  };

  const fill = async (host: Host, signal: AbortSignal): Promise<void> => {
    const token = await applyIdentity(host.instance.id, signal);
    if (token === undefined) return deps.log.debug({ instance: host.instance.name }, "Waiting for the token of a read account");
    const desired = renderClusterEntry(host.instance, destination, token);
    await writer.put({ name: "cluster-entry", objects: host.engine.entries, desired }, signal);
    await deps.sweep.sweep(host, signal);
  };

  /** The account goes last: as long as it is there, something may be left to do. */
  const removeIdentity = async (id: InstanceId, signal: AbortSignal): Promise<void> => {
    const { account, token, reader, impersonation } = renderIdentity(id, namespaces);
    if (apiCluster.accounts.get(account.at) === undefined) return;
    await allOrFirstFailure([
      writer.remove({ name: "impersonation-binding", objects: apiCluster.bindings, at: impersonation.at }, signal),
      writer.remove({ name: "impersonation", objects: apiCluster.roles, at: account.at }, signal),
      writer.remove({ name: "reader", objects: apiCluster.readers, at: reader.at }, signal),
      writer.remove({ name: "read-token", objects: apiCluster.tokens, at: token.at }, signal),
    ]);
    await writer.remove({ name: "read-account", objects: apiCluster.accounts, at: account.at }, signal);
  };

  return async (id: InstanceId, signal: AbortSignal): Promise<WorkResult | void> => {
    if (deps.hosts.isRetired(id) && apiCluster.isSynced()) return removeIdentity(id, signal);
    const host = await deps.hosts.find(id, signal);
    if (host === undefined) return undefined;
    if (!host.engine.isSynced() || !apiCluster.isSynced()) return { requeueAfterMs: UNLISTED_AGAIN_MS };
    await fill(host, signal);
    return undefined;
  };
}
