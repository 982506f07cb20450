import type { FindProcesses } from "../health/port.ts";
import { CONTROLLER, PORTS, REPO_SERVER } from "../instance-provisioner/manifests/names.ts";
import { usageSourceOf } from "./usage-sources.ts";

/** How an instance's processes are asked one by one, as its engine cluster is reached. */
export function findInstanceProcesses(clusters: Parameters<typeof usageSourceOf>[0]): FindProcesses {
  return async ({ namespace, engineCluster }, signal) => {
    const source = await usageSourceOf(clusters, engineCluster, signal);
    if (source === undefined) return undefined;
    const ask = (pod: string, port: number) => (asking: AbortSignal) => source.readMetrics({ namespace, pod, port }, asking);
    const pods = await source.listReachable({ namespace, components: [CONTROLLER, REPO_SERVER] }, signal);
    const repoServers = pods.filter(({ component }) => component === REPO_SERVER);
    return {
      controller: ask(`${CONTROLLER}-0`, PORTS.controllerMetrics),
      repoServers: new Map(repoServers.map(({ name }) => [name, ask(name, PORTS.repoServerMetrics)])),
    };
  };
}
