import type { KubeClient } from "../../../runtime/kube/client.ts";
import { resourcePath } from "../../../runtime/kube/resource.ts";
import type { UsageSource } from "../../port.ts";
import { type PodAtAddress, podKey, readByAddress, readByProxy } from "./read-metrics.ts";
import { instanceTypeOf, PODS } from "./types.ts";

/** Only metadata is read: what a cluster entry holds is not needed here, and secret. */
const METADATA_ONLY = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
/** The label by which Argo CD finds the clusters it may deploy to. */
const ENTRIES = "argocd.argoproj.io/secret-type=cluster";

const COMPONENT = "app.kubernetes.io/name";

/** `address`: this process reaches the cluster's pods. `proxy`: it reaches only the API server. */
export function createUsageSource(client: KubeClient, reach: "address" | "proxy"): UsageSource {
  const addresses = new Map<string, string>();
  return {
    readMetrics: reach === "address" ? readByAddress(client, addresses) : readByProxy(client),
    async countClusterEntries({ namespace }, signal) {
      const query = { labelSelector: ENTRIES, limit: 1000 };
      const path = resourcePath(instanceTypeOf("Secret"), { namespace });
      const page = await client.request<EntryList>({ method: "GET", path, query, accept: METADATA_ONLY }, signal);
      return (page.items?.length ?? 0) + (page.metadata?.remainingItemCount ?? 0);
    },
    async listReachable({ namespace, components }, signal) {
      if (reach === "proxy") return [];
      const { items } = await client.listPage<PodAtAddress>(
        PODS,
        { namespace, labelSelector: `${COMPONENT} in (${components.join(",")})` },
        signal,
      );
      for (const { metadata, status } of items)
        if (status?.podIP !== undefined) addresses.set(podKey({ namespace, pod: metadata.name }), status.podIP);
      return items
        .map(({ metadata }) => ({ name: metadata.name, component: metadata.labels?.[COMPONENT] ?? "" }))
        .toSorted((a, b) => (a.name < b.name ? -1 : 1));
    },
  };
}

interface EntryList {
  readonly items?: readonly unknown[];
  readonly metadata?: { readonly remainingItemCount?: number };
}
