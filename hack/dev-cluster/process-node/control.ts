import type { KubeClient } from "../../../src/runtime/kube/client.ts";
import type { ObjectName } from "../../../src/runtime/kube/resource.ts";
import { annotation, podType } from "./pod.ts";

/**
 * The share of the time that a pod's processes may run. 0 freezes them (connections stay, nothing answers), 0.1 makes
 * them slow, 1 lets them run freely. It is an annotation of the pod, so kubectl can set it from anywhere, and a
 * restarted node keeps to it.
 */
export async function setCpuShare(client: KubeClient, pod: ObjectName, share: number, signal: AbortSignal): Promise<void> {
  const annotations = { [annotation.cpuShare]: share >= 1 ? null : String(share) };
  await client.mergePatch(podType, pod, { metadata: { annotations } }, signal);
}
