import type { KubeClient } from "../../../runtime/kube/client.ts";
import { resourcePath } from "../../../runtime/kube/resource.ts";
import type { ReadMetrics } from "../../port.ts";
import { PODS } from "./types.ts";

/** Reads a pod's metrics through the API server, for clusters whose pods cannot be reached from here. */
export function readByProxy(client: Pick<KubeClient, "watchLines">): ReadMetrics {
  return ({ namespace, pod, port }, signal) => {
    const path = `${resourcePath(PODS, { namespace })}/${encodeURIComponent(`${pod}:${port}`)}/proxy/metrics`;
    return client.watchLines(path, {}, signal);
  };
}
