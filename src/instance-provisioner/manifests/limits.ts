import type { EngineObject } from "../../domain/engine.ts";
import type { ComponentResources } from "../../domain/fleet.ts";
import { parseQuantity, renderCpu, renderMemory } from "../../domain/quantity.ts";
import { objectOf } from "./object.ts";
import type { ManifestParameters } from "./parameters.ts";

/**
 * What the namespace may hold at most: the pods of an instance, one more repo-server while it is replaced, and room for one
 * of redis and the controller to end while its successor starts. Nothing that opens the namespace to the outside.
 */
export function renderLimits({ instance, resources }: ManifestParameters): readonly EngineObject[] {
  const { controller, repoServer, redis } = resources;
  const pods: readonly ComponentResources[] = [
    controller,
    controller,
    redis,
    redis,
    ...Array.from({ length: repoServer.replicas + 1 }, () => repoServer),
  ];
  const sum = (of: "cpu" | "memory") => pods.reduce((total, pod) => total + (parseQuantity(pod[of]) ?? 0), 0);
  const hard = {
    pods: String(pods.length),
    "limits.cpu": renderCpu(sum("cpu")),
    "limits.memory": renderMemory(sum("memory")),
    persistentvolumeclaims: "0",
    "services.loadbalancers": "0",
    "services.nodeports": "0",
  };
  // For a pod that names none, such as one somebody starts to look around: the quota would refuse it.
  const limits = [{ type: "Container", default: { cpu: "500m", memory: "256Mi" }, defaultRequest: { cpu: "10m", memory: "32Mi" } }];
  return [
    objectOf(instance, { apiVersion: "v1", kind: "ResourceQuota", name: "argosy-instance", spec: { hard } }),
    objectOf(instance, { apiVersion: "v1", kind: "LimitRange", name: "argosy-instance", spec: { limits } }),
  ];
}
