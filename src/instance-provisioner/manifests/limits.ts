import type { EngineObject } from "../../domain/engine.ts";
import type { ComponentResources } from "../../domain/fleet.ts";
import { parseQuantity, renderCpu, renderMemory } from "../../domain/quantity.ts";
import { FILTER_RESOURCES } from "./filter.ts";
import type { SpecOf } from "./kubernetes-types.ts";
import { QUOTA } from "./names.ts";
import { objectOf } from "./object.ts";
import type { ManifestParameters } from "./parameters.ts";

/**
 * The namespace's quota: the pods of an instance, one more repo-server while one is replaced, and redis and the
 * controller once more, so that one can end while its successor starts. Nothing that opens the namespace to the
 * outside. Disk is limited pod by pod, and not here: the quota would refuse every pod that names no limit of its own.
 */
export function renderLimits({ instance, resources, quota, filter }: ManifestParameters): readonly EngineObject[] {
  const { repoServer, redis } = resources;
  const controller = filter === undefined ? resources.controller : addedUp(resources.controller, FILTER_RESOURCES);
  const steady: readonly ComponentResources[] = [controller, redis, ...Array.from({ length: repoServer.replicas }, () => repoServer)];
  const inPassing: readonly ComponentResources[] = [controller, redis, repoServer];
  const hard = {
    pods: bound("pods", String, quota, [steady.length, inPassing.length]),
    "limits.cpu": bound("limits.cpu", renderCpu, quota, [sum(steady, "cpu"), sum(inPassing, "cpu")]),
    "limits.memory": bound("limits.memory", renderMemory, quota, [sum(steady, "memory"), sum(inPassing, "memory")]),
    persistentvolumeclaims: "0",
    "services.loadbalancers": "0",
    "services.nodeports": "0",
  };
  // For pods that name no resources, for example one that somebody starts for debugging: the quota would refuse them.
  const limits: SpecOf<"LimitRange"> = {
    limits: [{ type: "Container", default: { cpu: "500m", memory: "256Mi" }, defaultRequest: { cpu: "10m", memory: "32Mi" } }],
  };
  return [
    objectOf(instance, { apiVersion: "v1", kind: "ResourceQuota", name: QUOTA, spec: { hard } }),
    objectOf(instance, { apiVersion: "v1", kind: "LimitRange", name: QUOTA, spec: limits }),
  ];
}

function addedUp(one: ComponentResources, other: ComponentResources): ComponentResources {
  return { cpu: renderCpu(sum([one, other], "cpu")), memory: renderMemory(sum([one, other], "memory")) };
}

function sum(pods: readonly ComponentResources[], of: "cpu" | "memory"): number {
  return pods.reduce((total, pod) => total + (parseQuantity(pod[of]) ?? 0), 0);
}

/**
 * The quota for one resource. Pods that were larger before a change of the declaration go only as their successors
 * come. So while the use is above what the new pods need, the quota is not lowered: it would keep the successors out.
 */
function bound(
  resource: string,
  render: (amount: number) => string,
  quota: ManifestParameters["quota"],
  [staying, passing]: readonly [number, number],
): string {
  const amountOf = (side: "hard" | "used"): number => parseQuantity(quota?.[side][resource] ?? "") ?? 0;
  const wanted = staying + passing;
  return render(amountOf("used") > staying ? Math.max(wanted, amountOf("hard")) : wanted);
}
