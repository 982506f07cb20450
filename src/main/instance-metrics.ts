import { UnavailableError } from "../domain/errors.ts";
import { CONTROLLER, PORTS } from "../instance-provisioner/manifests/names.ts";
import type { ReadControllerMetrics } from "../scheduler/load/port.ts";
import { usageSourceOf } from "./usage-sources.ts";

/** How an instance's controller is asked for its metrics page: as its engine cluster is reached. */
export function controllerMetrics(parts: Parameters<typeof usageSourceOf>[0]): ReadControllerMetrics {
  return async function* ({ namespace, engineCluster }, signal) {
    const source = await usageSourceOf(parts, engineCluster, signal);
    if (source === undefined)
      throw new UnavailableError("reaching an engine cluster for metrics", { code: "instance.no-metrics", context: { engineCluster } });
    yield* source.readMetrics({ namespace, pod: `${CONTROLLER}-0`, port: PORTS.controllerMetrics }, signal);
  };
}
