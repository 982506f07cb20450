import type { ObjectName } from "../../../src/runtime/kube/resource.ts";
import type { Endpoint } from "./forwarder.ts";
import type { Pod, Service, ServicePort } from "./pod.ts";
import type { PodRuntime } from "./pod-runtime.ts";
import { portOf } from "./probe.ts";

export interface TargetQuestion {
  readonly service: Service;
  readonly port: ServicePort;
  /** Pods of the Service's namespace. */
  readonly pods: readonly Pod[];
  readonly runtime: (at: ObjectName) => Pick<PodRuntime, "uid" | "ip" | "views"> | undefined;
}

/** Where the ready pods of a Service listen, sorted by pod. A Service without a selector has none. */
export function targetsOf({ service, port, pods, runtime }: TargetQuestion): readonly Endpoint[] {
  const selector = Object.entries(service.spec.selector ?? {});
  if (selector.length === 0) return [];
  return pods.flatMap((pod) => {
    const here = runtime(pod.metadata);
    const isSelected = selector.every(([label, value]) => pod.metadata.labels?.[label] === value);
    if (!isSelected || here?.uid !== pod.metadata.uid || !here.views().every(({ isReady }) => isReady)) return [];
    const to = pod.spec.containers.map((container) => portOf(port.targetPort ?? port.port, container)).find((found) => found !== undefined);
    return to === undefined ? [] : [{ host: here.ip, port: to }];
  });
}
