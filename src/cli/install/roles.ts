import {
  ACCOUNTS_RULES,
  API_CLUSTER_RULES,
  ENGINE_CLUSTER_RULES,
  READ_VERBS,
  type RightsRule,
  SYSTEM_RULES,
  WRITE,
} from "../../api/doctor/rights.ts";
import { ACCOUNTS_NAMESPACE, DEPLOYER_ROLE, LABEL_MANAGED_BY, MANAGED_BY, READER_ROLE, SYSTEM_NAMESPACE } from "../../domain/names.ts";

/** An object of the installation, ready to be applied. */
export interface InstallObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: Readonly<Record<string, string>> };
  readonly [field: string]: unknown;
}

const RBAC = "rbac.authorization.k8s.io";
const labels = { [LABEL_MANAGED_BY]: MANAGED_BY, "app.kubernetes.io/part-of": "argosy" };

/** ServiceAccounts Argosy acts as, one per role a cluster plays. */
export const API_ACCOUNT = "argosy-api-cluster";
export const ENGINE_ACCOUNT = "argosy-engine-cluster";

/**
 * The deploying role as an administrator installs it: enough for the common kinds. Argosy keeps it in step with the kinds
 * the cluster really serves; it never holds rights over RBAC, tokens, impersonation, quotas or limits.
 */
const DEPLOYER_RULES: readonly RightsRule[] = [
  { apiGroups: [""], resources: ["configmaps", "secrets", "services"], verbs: [...READ_VERBS, ...WRITE] },
];

const READER_RULES: readonly RightsRule[] = [{ apiGroups: ["*"], resources: ["*"], verbs: READ_VERBS }];

/** Objects for the cluster that holds the users' resources (and, where it is the same, hosts instances too). */
export function renderApiClusterObjects(): readonly InstallObject[] {
  return [
    namespace(SYSTEM_NAMESPACE),
    namespace(ACCOUNTS_NAMESPACE),
    clusterRole(DEPLOYER_ROLE, DEPLOYER_RULES),
    clusterRole(READER_ROLE, READER_RULES),
    ...account(API_ACCOUNT, API_CLUSTER_RULES),
    ...namespacedRights(ACCOUNTS_NAMESPACE, ACCOUNTS_RULES),
    ...namespacedRights(SYSTEM_NAMESPACE, SYSTEM_RULES),
  ];
}

/** Objects for a cluster that hosts instances. */
export function renderEngineClusterObjects(): readonly InstallObject[] {
  return [namespace(SYSTEM_NAMESPACE), ...account(ENGINE_ACCOUNT, ENGINE_CLUSTER_RULES)];
}

function namespace(name: string): InstallObject {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } };
}

function clusterRole(name: string, rules: readonly RightsRule[]): InstallObject {
  return { apiVersion: `${RBAC}/v1`, kind: "ClusterRole", metadata: { name, labels }, rules };
}

function account(name: string, rules: readonly RightsRule[]): readonly InstallObject[] {
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace: SYSTEM_NAMESPACE, labels } },
    clusterRole(name, rules),
    {
      apiVersion: `${RBAC}/v1`,
      kind: "ClusterRoleBinding",
      metadata: { name, labels },
      roleRef: { apiGroup: RBAC, kind: "ClusterRole", name },
      subjects: [{ kind: "ServiceAccount", name, namespace: SYSTEM_NAMESPACE }],
    },
  ];
}

function namespacedRights(where: string, rules: readonly RightsRule[]): readonly InstallObject[] {
  const metadata = { name: API_ACCOUNT, namespace: where, labels };
  return [
    { apiVersion: `${RBAC}/v1`, kind: "Role", metadata, rules },
    {
      apiVersion: `${RBAC}/v1`,
      kind: "RoleBinding",
      metadata,
      roleRef: { apiGroup: RBAC, kind: "Role", name: API_ACCOUNT },
      subjects: [{ kind: "ServiceAccount", name: API_ACCOUNT, namespace: SYSTEM_NAMESPACE }],
    },
  ];
}
