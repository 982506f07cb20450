import { createUsageSource } from "../instance-provisioner/adapters/kubernetes/usage-source.ts";
import type { UsageSource } from "../instance-provisioner/port.ts";
import type { Store } from "../store/port.ts";
import type { Clusters } from "./clusters.ts";

interface UsageParts {
  readonly store: Pick<Store, "fleet">;
  readonly clusters: Pick<Clusters, "engine">;
}

/** How instances of an engine cluster are asked what they cost: as fleet.yaml says, or else by where Argosy runs. */
export async function usageSourceOf({ store, clusters }: UsageParts, name: string, signal: AbortSignal): Promise<UsageSource | undefined> {
  const spec = (await store.fleet.readFleet(signal))?.spec.engineClusters.find((cluster) => cluster.name === name);
  const client = spec === undefined ? undefined : await clusters.engine(name);
  if (spec === undefined || client === undefined) return undefined;
  return createUsageSource(client, spec.reach ?? (spec.access.kind === "inCluster" ? "address" : "proxy"));
}
