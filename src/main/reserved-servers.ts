import type { Store } from "../store/port.ts";
import type { Clusters } from "./clusters.ts";

/**
 * API servers of clusters that host instances, under every URL this process knows them by: whoever could deploy there could
 * write what tells Argo CD what to do. Rejects while one of them is declared and cannot be told, for anything might be it. The API cluster is one of them where it hosts instances itself.
 */
export async function reservedServers(
  { store, clusters }: { readonly store: Pick<Store, "fleet">; readonly clusters: Pick<Clusters, "api" | "destination" | "needEngine"> },
  signal: AbortSignal,
): Promise<readonly string[]> {
  const declared = (await store.fleet.readFleet(signal))?.spec.engineClusters ?? [];
  const engines = await Promise.all(declared.map(({ name }) => clusters.needEngine(name, signal)));
  const servers = engines.map(({ server }) => server);
  return servers.includes(clusters.api.server) ? [...servers, clusters.destination.server] : servers;
}
