import { DefectError } from "../../../domain/errors.ts";
import type { ResourceType } from "../../../runtime/kube/resource.ts";

const CORE = { group: "", version: "v1" } as const;
const APPS = { group: "apps", version: "v1" } as const;
const RBAC = { group: "rbac.authorization.k8s.io", version: "v1" } as const;

export const INSTANCE_NAMESPACES: ResourceType = { ...CORE, plural: "namespaces", kind: "Namespace", namespaced: false };
export const DEPLOYMENTS: ResourceType = { ...APPS, plural: "deployments", kind: "Deployment", namespaced: true };
export const STATEFUL_SETS: ResourceType = { ...APPS, plural: "statefulsets", kind: "StatefulSet", namespaced: true };
export const QUOTAS: ResourceType = { ...CORE, plural: "resourcequotas", kind: "ResourceQuota", namespaced: true };
export const PODS: ResourceType = { ...CORE, plural: "pods", kind: "Pod", namespaced: true };
export const INSTANCE_APPLICATIONS: ResourceType = {
  group: "argoproj.io",
  version: "v1alpha1",
  plural: "applications",
  kind: "Application",
  namespaced: true,
};
export const DEFINITIONS: ResourceType = {
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
};

/** Every kind that an instance's manifests contain. */
export const INSTANCE_TYPES: readonly ResourceType[] = [
  INSTANCE_NAMESPACES,
  QUOTAS,
  { ...CORE, plural: "limitranges", kind: "LimitRange", namespaced: true },
  { group: "networking.k8s.io", version: "v1", plural: "networkpolicies", kind: "NetworkPolicy", namespaced: true },
  { ...CORE, plural: "serviceaccounts", kind: "ServiceAccount", namespaced: true },
  { ...RBAC, plural: "roles", kind: "Role", namespaced: true },
  { ...RBAC, plural: "rolebindings", kind: "RoleBinding", namespaced: true },
  { ...CORE, plural: "configmaps", kind: "ConfigMap", namespaced: true },
  { ...CORE, plural: "secrets", kind: "Secret", namespaced: true },
  { ...CORE, plural: "services", kind: "Service", namespaced: true },
  DEPLOYMENTS,
  STATEFUL_SETS,
];

export function instanceTypeOf(kind: string): ResourceType {
  const type = INSTANCE_TYPES.find((one) => one.kind === kind);
  if (type === undefined) throw new DefectError(`Writing an object of kind ${kind}`, { code: "instance.unknown-kind", context: { kind } });
  return type;
}
