import type { KubeObject, ResourceType } from "../../src/runtime/kube/resource.ts";
import type { ChartCluster } from "./chart-cluster.ts";

export interface Pod extends KubeObject {
  readonly spec?: { readonly nodeName?: string };
  readonly status?: {
    readonly phase?: string;
    readonly podIP?: string;
    /** Address of its node. */
    readonly hostIP?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly containerStatuses?: readonly {
      readonly restartCount: number;
      readonly state?: ContainerState;
      readonly lastState?: ContainerState;
    }[];
  };
}

interface ContainerState {
  readonly running?: object;
  readonly terminated?: { readonly reason?: string; readonly finishedAt?: string };
}

export const POD: ResourceType = { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true };

/** Pods of a namespace with these labels that are not being deleted, by name. */
export async function podsOf(
  { api }: ChartCluster,
  { namespace, labels = "" }: { readonly namespace: string; readonly labels?: string },
  signal: AbortSignal,
): Promise<readonly Pod[]> {
  const { items } = await api.client.listPage<Pod>(POD, { namespace, ...(labels === "" ? {} : { labelSelector: labels }) }, signal);
  return items
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
}

export function isReady({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") === true;
}
