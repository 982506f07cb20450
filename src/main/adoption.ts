import { createAdoptedCluster } from "../adoption/adapters/kubernetes/adopted-cluster.ts";
import type { AdoptedCluster } from "../adoption/port.ts";
import { systemClock } from "../runtime/clock.ts";
import { loadKubeconfig } from "../runtime/kube/auth.ts";
import type { KubeClient } from "../runtime/kube/client.ts";
import { createKubeClient } from "../runtime/kube/http.ts";
import type { KubeObject } from "../runtime/kube/resource.ts";
import { systemRng } from "../runtime/rng.ts";
import { silentLog } from "../telemetry/log.ts";
import { noMetrics } from "../telemetry/metrics.ts";

const NAMESPACE = { group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false } as const;

/** What tells a cluster from any other: the uid of a namespace that is as old as it is. */
export async function clusterUid(client: KubeClient, signal: AbortSignal): Promise<string> {
  const found = await client.get<KubeObject>(NAMESPACE, { namespace: "", name: "kube-system" }, signal);
  return found?.metadata.uid ?? "";
}

/** Opens the cluster of a kubeconfig, for as long as it is used. */
export async function withAdoptedCluster<T>(
  { kubeconfig, context }: { readonly kubeconfig: string; readonly context?: string },
  use: (source: { readonly cluster: AdoptedCluster; readonly server: string }) => Promise<T>,
): Promise<T> {
  const credentials = loadKubeconfig({ file: kubeconfig }, context);
  const parts = { clock: systemClock, rng: systemRng, log: silentLog, metrics: noMetrics };
  const client = createKubeClient({ ...parts, cluster: "adopted", credentials });
  try {
    return await use({ cluster: createAdoptedCluster(client), server: credentials.server });
  } finally {
    await client.close();
  }
}
