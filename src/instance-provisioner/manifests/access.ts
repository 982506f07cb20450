import type { EngineObject } from "../../domain/engine.ts";
import type { RoleRule } from "./kubernetes-types.ts";
import { COMPONENT_NAMES, CONTROLLER } from "./names.ts";
import type { ManifestIdentity } from "./object.ts";
import { objectOf } from "./object.ts";

const RBAC = "rbac.authorization.k8s.io";

/** The namespace. Its pod security level admits only restricted pods. */
export function renderNamespace(instance: ManifestIdentity): EngineObject {
  const levels = ["enforce", "audit", "warn"].map((mode) => [`pod-security.kubernetes.io/${mode}`, "restricted"] as const);
  const labels = { ...Object.fromEntries(levels), "argosy.dev/pool": instance.pool };
  return objectOf(instance, { apiVersion: "v1", kind: "Namespace", name: instance.namespace, labels });
}

/**
 * The accounts, and one role: the controller's, over its own namespace. Nothing in an instance has rights on the
 * engine cluster as a whole.
 */
export function renderAccess(instance: ManifestIdentity): readonly EngineObject[] {
  const accounts = COMPONENT_NAMES.map((name) =>
    objectOf(instance, { apiVersion: "v1", kind: "ServiceAccount", name, automountServiceAccountToken: false }),
  );
  return [
    ...accounts,
    objectOf(instance, {
      apiVersion: `${RBAC}/v1`,
      kind: "Role",
      name: CONTROLLER,
      component: "application-controller",
      rules: CONTROLLER_RULES,
    }),
    objectOf(instance, {
      apiVersion: `${RBAC}/v1`,
      kind: "RoleBinding",
      name: CONTROLLER,
      component: "application-controller",
      roleRef: { apiGroup: RBAC, kind: "Role", name: CONTROLLER },
      subjects: [{ kind: "ServiceAccount", name: CONTROLLER, namespace: instance.namespace }],
    }),
  ];
}

/** What an instance's controller may do in its own namespace. */
export const CONTROLLER_RULES: readonly RoleRule[] = [
  { apiGroups: [""], resources: ["secrets", "configmaps"], verbs: ["get", "list", "watch"] },
  {
    apiGroups: ["argoproj.io"],
    resources: ["applications", "applicationsets", "appprojects"],
    verbs: ["create", "get", "list", "watch", "update", "patch", "delete"],
  },
  { apiGroups: [""], resources: ["events"], verbs: ["create", "list"] },
];
