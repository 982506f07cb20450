import type { ChartCluster } from "./chart-cluster.ts";

/** What a pod takes, as its kubelet measures it. */
export interface PodUsage {
  readonly namespace: string;
  readonly name: string;
  /** Thousandths of a core, of the last ten seconds or so. */
  readonly milliCpu: number;
  /** Memory that cannot be taken away from it (its working set). */
  readonly memoryMiB: number;
}

interface Summary {
  readonly pods: readonly {
    readonly podRef: { readonly name: string; readonly namespace: string };
    readonly cpu?: { readonly usageNanoCores?: number };
    readonly memory?: { readonly workingSetBytes?: number };
  }[];
}

/** Every pod of every node, by namespace and name. */
export async function readUsage({ kubectl }: Pick<ChartCluster, "kubectl">): Promise<readonly PodUsage[]> {
  const nodes = (await kubectl(["get", "nodes", "-o", "jsonpath={.items[*].metadata.name}"])).split(" ");
  const summaries = await Promise.all(
    nodes.map(async (node) => JSON.parse(await kubectl(["get", "--raw", `/api/v1/nodes/${node}/proxy/stats/summary`])) as Summary),
  );
  return summaries
    .flatMap(({ pods }) => pods)
    .map(({ podRef, cpu, memory }) => ({
      ...podRef,
      milliCpu: (cpu?.usageNanoCores ?? 0) / 1_000_000,
      memoryMiB: (memory?.workingSetBytes ?? 0) / 1_048_576,
    }))
    .sort((a, b) => (`${a.namespace}/${a.name}` < `${b.namespace}/${b.name}` ? -1 : 1));
}
