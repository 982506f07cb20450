import type { ObjectAt } from "../src/shard/managed-object.ts";

const RBAC = "rbac.authorization.k8s.io";

/** A RoleBinding that gives a ServiceAccount a ClusterRole in a namespace. */
export const bindingOf = (at: ObjectAt, role: string, account: ObjectAt) => ({
  ...{ apiVersion: `${RBAC}/v1`, kind: "RoleBinding", metadata: at },
  roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: role },
  subjects: [{ kind: "ServiceAccount", ...account }],
});
