import { type KubeObject, type ResourceType, resourcePath } from "../src/runtime/kube/resource.ts";
import { TYPES, type World } from "./world.ts";

const GROUP = "rbac.authorization.k8s.io";
const ROLE: ResourceType = { group: GROUP, version: "v1", plural: "clusterroles", kind: "ClusterRole", namespaced: false };
const BINDING: ResourceType = { group: GROUP, version: "v1", plural: "clusterrolebindings", kind: "ClusterRoleBinding", namespaced: false };

/** A person who may write every namespace, as on a platform where users make their own, and nothing else. */
export interface NamespaceWriter {
  /** Sets labels of a namespace; `null` removes one. Rejects with RefusedError where that is not theirs to do. */
  label(namespace: string, labels: Readonly<Record<string, string | null>>): Promise<unknown>;
  /** Takes the rights away. */
  close(): Promise<void>;
}

export async function openNamespaceWriter({ kube, signal }: World, name: string): Promise<NamespaceWriter> {
  const rules = [{ apiGroups: [""], resources: ["namespaces"], verbs: ["get", "create", "update", "patch"] }];
  const own = { apiVersion: `${GROUP}/v1`, metadata: { name } };
  const bound = { roleRef: { apiGroup: GROUP, kind: ROLE.kind, name }, subjects: [{ apiGroup: GROUP, kind: "User", name }] };
  await kube.apply(ROLE, { ...own, kind: ROLE.kind, rules } as KubeObject, { fieldManager: "test" }, signal);
  await kube.apply(BINDING, { ...own, kind: BINDING.kind, ...bound } as KubeObject, { fieldManager: "test" }, signal);
  return {
    label: (namespace, labels) =>
      kube.request(
        {
          ...{ method: "PATCH", path: resourcePath(TYPES.namespace, { name: namespace }), body: { metadata: { labels } } },
          ...{ contentType: "application/merge-patch+json", headers: { "impersonate-user": name } },
        },
        signal,
      ),
    async close() {
      for (const type of [BINDING, ROLE]) await kube.delete(type, { namespace: "", name }, {}, signal);
    },
  };
}
