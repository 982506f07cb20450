import type { FleetSpec } from "../../domain/fleet.ts";
import type { KubeClient } from "../../runtime/kube/client.ts";
import type { Check } from "../port.ts";
import { attempt } from "./asking.ts";
import { judgeApiServers } from "./checks.ts";

export interface ServersToExamine {
  readonly apiCluster: KubeClient;
  /** The client of a declared engine cluster; throws with the reason when there is none to be had. */
  readonly engineCluster: (name: string, signal: AbortSignal) => Promise<KubeClient>;
  /** How instances reach the API cluster. */
  readonly destination: { readonly server: string };
  /** Addresses of a server that only the inside reaches. */
  readonly insideAddressesOf: (server: string, signal: AbortSignal) => Promise<readonly string[]>;
}

/** Looks where the API servers are that instances have to reach. A cluster that is away is left out: its own check says so. */
export async function examineServers(deps: ServersToExamine, spec: FleetSpec, signal: AbortSignal): Promise<Check> {
  const { apiCluster, destination, engineCluster, insideAddressesOf } = deps;
  const engines = spec.engineClusters.map(async ({ name }) => {
    const client = await attempt(() => engineCluster(name, signal));
    return client === undefined ? [] : [{ cluster: name, server: client.server }];
  });
  const servers = [{ cluster: apiCluster.cluster, server: destination.server }, ...(await Promise.all(engines)).flat()];
  const looked = servers.map(async ({ cluster, server }) => ({
    cluster,
    addresses: (await attempt(() => insideAddressesOf(server, signal))) ?? [],
  }));
  return judgeApiServers(spec, await Promise.all(looked));
}
