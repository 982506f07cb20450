import { UnavailableError } from "../domain/errors.ts";
import { CONTROLLER, PORTS, REPO_SERVER } from "../instance-provisioner/manifests/names.ts";
import type { ReadInstancePages } from "../scheduler/load/port.ts";
import { usageSourceOf } from "./usage-sources.ts";

/** How an instance's processes are asked for their metrics: as its engine cluster is reached. */
export function instancePages(clusters: Parameters<typeof usageSourceOf>[0]): ReadInstancePages {
  return async function* ({ namespace, engineCluster }, signal) {
    const source = await usageSourceOf(clusters, engineCluster, signal);
    if (source === undefined)
      throw new UnavailableError("reaching an engine cluster for metrics", { code: "instance.no-metrics", context: { engineCluster } });
    const lines = (pod: string, port: number) => source.readMetrics({ namespace, pod, port }, signal);
    const controller = `${CONTROLLER}-0`;
    yield { of: "controller", pod: controller, lines: lines(controller, PORTS.controllerMetrics) };
    for (const { name } of await source.listReachable({ namespace, components: [REPO_SERVER] }, signal))
      yield { of: "repo-server", pod: name, lines: lines(name, PORTS.repoServerMetrics) };
  };
}
