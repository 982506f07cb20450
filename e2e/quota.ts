import type { KubeObject, ResourceType } from "../src/runtime/kube/resource.ts";
import type { ObjectAt } from "../src/shard/managed-object.ts";
import { until, type World } from "./world.ts";

const QUOTAS: ResourceType = { group: "", version: "v1", plural: "resourcequotas", kind: "ResourceQuota", namespaced: true };

type Quota = KubeObject & { readonly status?: { readonly hard?: unknown } };

/**
 * Allows no more objects of a resource in a namespace, from when it resolves. `what`: as quotas name it, such as
 * `count/configmaps`.
 */
export async function forbidMore({ kube, signal }: World, at: ObjectAt, what: string): Promise<void> {
  const quota = { apiVersion: "v1", kind: QUOTAS.kind, metadata: at, spec: { hard: { [what]: "0" } } };
  await kube.create(QUOTAS, quota as KubeObject, signal);
  await until(
    "the quota in force",
    () => kube.get<Quota>(QUOTAS, at, signal),
    (found) => found?.status?.hard !== undefined,
  );
}

export async function allowMore({ kube, signal }: World, at: ObjectAt): Promise<void> {
  await kube.delete(QUOTAS, at, {}, signal);
}
