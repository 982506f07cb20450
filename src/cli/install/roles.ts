import {
  ACCOUNTS_RULES,
  API_CLUSTER_RULES,
  ENGINE_CLUSTER_RULES,
  READ_VERBS,
  type RightsRule,
  rulesFor,
  SYSTEM_RULES,
  TOKEN_REVIEW_RULES,
  WRITE,
} from "../../api/doctor/rights.ts";
import { ACCOUNTS_NAMESPACE, DEPLOYER_ROLE, READER_ROLE, SYSTEM_NAMESPACE } from "../../domain/names.ts";
import { ROLES, type Role } from "../../domain/role.ts";
import { OWNER_MARK } from "../../shard/deployer-rules.ts";
import { type InstallObject, installLabels as labels } from "./install-object.ts";

const RBAC = "rbac.authorization.k8s.io";

/** ServiceAccounts that all roles act as where they share one: on the API cluster, and on a cluster that hosts instances. */
export const API_ACCOUNT = "argosy-api-cluster";
export const ENGINE_ACCOUNT = "argosy-engine-cluster";

/** The ServiceAccount of a role, where each has its own. */
export function accountOfRole(role: Role): string {
  return `argosy-${role}`;
}

/**
 * The deploying role as an administrator installs it: enough for the common kinds. Argosy keeps it in step with the kinds
 * the cluster really serves; it never holds rights over RBAC, tokens, impersonation, quotas or limits.
 */
const DEPLOYER_RULES: readonly RightsRule[] = [
  { apiGroups: [""], resources: ["configmaps", "secrets", "services"], verbs: [...READ_VERBS, ...WRITE] },
  OWNER_MARK,
];

/** Whether all roles act as one ServiceAccount, or each as one of its own that may do what the role needs and no more. */
export type AccountLayout = "one-account" | "account-per-role";

/** Objects for the cluster that holds the users' resources (and, where it is the same, hosts instances too). */
export function renderApiClusterObjects(): readonly InstallObject[] {
  return [...renderApiClusterBase(), ...renderAccounts("one-account", { hostsInstances: false })];
}

/** What the API cluster needs whatever accounts Argosy has: its namespaces, and the roles it gives to instances. */
export function renderApiClusterBase(): readonly InstallObject[] {
  return [
    namespace(SYSTEM_NAMESPACE),
    namespace(ACCOUNTS_NAMESPACE),
    clusterRole(DEPLOYER_ROLE, DEPLOYER_RULES),
    // Argosy alone writes its rules: without any here, installing again leaves them as they are.
    { apiVersion: `${RBAC}/v1`, kind: "ClusterRole", metadata: { name: READER_ROLE, labels } },
  ];
}

/**
 * The ServiceAccounts of Argosy's processes in its own namespace, with what they may do on the API cluster. Where that cluster hosts
 * instances as well and processes reach it as these same accounts (`inCluster` in fleet.yaml), `hostsInstances` adds what they may do to
 * instances, in ClusterRoles of their own.
 */
export function renderAccounts(layout: AccountLayout, { hostsInstances }: { readonly hostsInstances: boolean }): readonly InstallObject[] {
  if (layout === "one-account")
    return [
      ...apiClusterAccount(API_ACCOUNT, ROLES),
      ...(hostsInstances ? engineRights({ account: API_ACCOUNT, role: ENGINE_ACCOUNT, roles: ROLES }) : []),
    ];
  return ROLES.flatMap((role) => {
    const name = accountOfRole(role);
    return [
      ...apiClusterAccount(name, [role]),
      ...(hostsInstances ? engineRights({ account: name, role: `${name}-engine`, roles: [role] }) : []),
    ];
  });
}

/** The right to ask whose token one is, where tokens of the API cluster's users are accepted. */
export function renderTokenReviewRights(layout: AccountLayout): readonly InstallObject[] {
  const account = layout === "one-account" ? API_ACCOUNT : accountOfRole("api");
  const name = "argosy-token-reviews";
  return clusterRights({ account, role: name, binding: name }, rulesFor(TOKEN_REVIEW_RULES, ROLES));
}

/** Objects for a cluster that hosts instances, which Argosy reaches by a kubeconfig: one account for all roles. */
export function renderEngineClusterObjects(): readonly InstallObject[] {
  return [
    namespace(SYSTEM_NAMESPACE),
    serviceAccount(ENGINE_ACCOUNT),
    ...clusterRights({ account: ENGINE_ACCOUNT, role: ENGINE_ACCOUNT, binding: ENGINE_ACCOUNT }, rulesFor(ENGINE_CLUSTER_RULES, ROLES)),
  ];
}

function namespace(name: string): InstallObject {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } };
}

function serviceAccount(name: string): InstallObject {
  return { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace: SYSTEM_NAMESPACE, labels } };
}

function clusterRole(name: string, rules: readonly RightsRule[]): InstallObject {
  return { apiVersion: `${RBAC}/v1`, kind: "ClusterRole", metadata: { name, labels }, rules };
}

function apiClusterAccount(name: string, roles: readonly Role[]): readonly InstallObject[] {
  return [
    serviceAccount(name),
    ...clusterRights({ account: name, role: name, binding: name }, rulesFor(API_CLUSTER_RULES, roles)),
    ...namespacedRights(name, ACCOUNTS_NAMESPACE, rulesFor(ACCOUNTS_RULES, roles)),
    ...namespacedRights(name, SYSTEM_NAMESPACE, rulesFor(SYSTEM_RULES, roles)),
  ];
}

function engineRights({ account, role, roles }: { readonly account: string; readonly role: string; readonly roles: readonly Role[] }) {
  // Not the name of the role: `argosy manifests --for engine` binds the role of one account for all under that name, to another account.
  return clusterRights({ account, role, binding: `${account}-engine` }, rulesFor(ENGINE_CLUSTER_RULES, roles));
}

interface ClusterRights {
  readonly account: string;
  readonly role: string;
  readonly binding: string;
}

/** Nothing at all where there are no rules: an empty role would say that a role needs something. */
function clusterRights({ account, role, binding }: ClusterRights, rules: readonly RightsRule[]): readonly InstallObject[] {
  if (rules.length === 0) return [];
  return [
    clusterRole(role, rules),
    {
      apiVersion: `${RBAC}/v1`,
      kind: "ClusterRoleBinding",
      metadata: { name: binding, labels },
      roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: role },
      subjects: [{ kind: "ServiceAccount", name: account, namespace: SYSTEM_NAMESPACE }],
    },
  ];
}

function namespacedRights(account: string, where: string, rules: readonly RightsRule[]): readonly InstallObject[] {
  if (rules.length === 0) return [];
  const metadata = { name: account, namespace: where, labels };
  return [
    { apiVersion: `${RBAC}/v1`, kind: "Role", metadata, rules },
    {
      apiVersion: `${RBAC}/v1`,
      kind: "RoleBinding",
      metadata,
      roleRef: { apiGroup: RBAC, kind: "Role", name: account },
      subjects: [{ kind: "ServiceAccount", name: account, namespace: SYSTEM_NAMESPACE }],
    },
  ];
}
