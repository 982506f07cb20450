import type { KubeClient } from "../../../src/runtime/kube/client.ts";
import type { ObjectName } from "../../../src/runtime/kube/resource.ts";
import { annotation, podType } from "./pod.ts";

/**
 * Lets a pod's processes run for this share of the time: 0 stops them as a frozen process is stopped (connections stay, nothing answers), 0.1
 * makes them slow, 1 lets them go. It is an annotation of the pod, so kubectl can do the same from anywhere, and a restarted node goes on with it.
 */
export async function setCpuShare(client: KubeClient, pod: ObjectName, share: number, signal: AbortSignal): Promise<void> {
  const annotations = { [annotation.cpuShare]: share >= 1 ? null : String(share) };
  await client.mergePatch(podType, pod, { metadata: { annotations } }, signal);
}
