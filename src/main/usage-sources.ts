import { createUsageSource } from "../instance-provisioner/adapters/kubernetes/usage-source.ts";
import type { UsageSource } from "../instance-provisioner/port.ts";
import type { Clusters } from "./clusters.ts";

/** How instances of an engine cluster are asked what they cost: as fleet.yaml says, or else by where Argosy runs. */
export async function usageSourceOf(
  clusters: Pick<Clusters, "engineWithSpec">,
  name: string,
  signal: AbortSignal,
): Promise<UsageSource | undefined> {
  const found = await clusters.engineWithSpec(name, signal);
  if (found === undefined) return undefined;
  const { client, spec } = found;
  return createUsageSource(client, spec.reach ?? (spec.access.kind === "inCluster" ? "address" : "proxy"));
}
