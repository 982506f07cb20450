import { CONTROLLER, PORTS } from "../instance-provisioner/manifests/names.ts";
import type { ControllersSeen } from "../watchdog/port.ts";
import { usageSourceOf } from "./usage-sources.ts";

/** A controller that is busy with thousands of applications answers in well under a second. In ms. */
const ANSWER_MS = 8_000;

/** Asks an instance's controller for the first line of its metrics, as its engine cluster is reached. */
export function createControllersSeen(clusters: Parameters<typeof usageSourceOf>[0]): ControllersSeen {
  return {
    async on(engineCluster, signal) {
      const soon = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]);
      const source = await usageSourceOf(clusters, engineCluster, soon).catch(() => signal.throwIfAborted());
      if (source === undefined) return undefined;
      return async (namespace, asking) => {
        const limit = AbortSignal.timeout(ANSWER_MS);
        const page = { namespace, pod: `${CONTROLLER}-0`, port: PORTS.controllerMetrics };
        try {
          for await (const _line of source.readMetrics(page, AbortSignal.any([asking, limit]))) return true;
          return true;
        } catch {
          asking.throwIfAborted();
          return limit.aborted ? false : undefined;
        }
      };
    },
  };
}
