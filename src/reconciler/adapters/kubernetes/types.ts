import type { ResourceType } from "../../../runtime/kube/resource.ts";

const RBAC = { group: "rbac.authorization.k8s.io", version: "v1" } as const;
const CORE = { group: "", version: "v1" } as const;
const ARGO = { group: "argoproj.io", version: "v1alpha1" } as const;

export const APPLICATIONS: ResourceType = { ...ARGO, plural: "applications", kind: "Application", namespaced: true };
export const PROJECTS: ResourceType = { ...ARGO, plural: "appprojects", kind: "AppProject", namespaced: true };
export const ENGINE_SECRETS: ResourceType = { ...CORE, plural: "secrets", kind: "Secret", namespaced: true };
export const SERVICE_ACCOUNTS: ResourceType = { ...CORE, plural: "serviceaccounts", kind: "ServiceAccount", namespaced: true };
export const ROLE_OBJECTS: ResourceType = { ...RBAC, plural: "roles", kind: "Role", namespaced: true };
export const ROLE_BINDINGS: ResourceType = { ...RBAC, plural: "rolebindings", kind: "RoleBinding", namespaced: true };
export const CLUSTER_ROLES: ResourceType = { ...RBAC, plural: "clusterroles", kind: "ClusterRole", namespaced: false };
export const CLUSTER_ROLE_BINDINGS: ResourceType = {
  ...RBAC,
  plural: "clusterrolebindings",
  kind: "ClusterRoleBinding",
  namespaced: false,
};
