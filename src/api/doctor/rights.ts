import { ACCOUNTS_NAMESPACE, DEPLOYER_ROLE, READER_ROLE, SYSTEM_NAMESPACE } from "../../domain/names.ts";

/** A rule of a Kubernetes role. */
export interface RightsRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** One thing Argosy must be allowed to do, in the words of a SelfSubjectAccessReview. */
export interface NeededRight {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

const GITOPS = "managed-gitops.redhat.com";
const RBAC = "rbac.authorization.k8s.io";
const KINDS = [
  "gitopsdeployments",
  "gitopsdeploymentsyncruns",
  "gitopsdeploymentmanagedenvironments",
  "gitopsdeploymentrepositorycredentials",
];
export const READ_VERBS = ["get", "list", "watch"];
export const WRITE = ["create", "update", "patch", "delete"];

/**
 * What Argosy may do on the cluster with the users' resources: read them and write their status, put owner bindings into
 * their namespaces, and run the accounts namespace. `bind` and `escalate` name exactly its own roles: it may not hand out others.
 */
export const API_CLUSTER_RULES: readonly RightsRule[] = [
  { apiGroups: [""], resources: ["namespaces"], verbs: READ_VERBS },
  { apiGroups: [GITOPS], resources: KINDS, verbs: READ_VERBS },
  { apiGroups: [GITOPS], resources: ["gitopsdeployments"], verbs: ["patch"] },
  // Runs go some time after their end, where their user wants that.
  { apiGroups: [GITOPS], resources: ["gitopsdeploymentsyncruns"], verbs: ["delete"] },
  {
    apiGroups: [GITOPS],
    resources: KINDS.map((kind) => `${kind}/status`),
    verbs: ["get", "patch", "update"],
  },
  // Credentials that users bring; those of the types they are brought in are watched, any other is read when a resource names it.
  { apiGroups: [""], resources: ["secrets"], verbs: READ_VERBS },
  { apiGroups: ["", "events.k8s.io"], resources: ["events"], verbs: ["create", "patch"] },
  { apiGroups: [RBAC], resources: ["rolebindings"], verbs: [...READ_VERBS, ...WRITE] },
  { apiGroups: [RBAC], resources: ["clusterrolebindings"], verbs: [...READ_VERBS, ...WRITE] },
  { apiGroups: [RBAC], resources: ["clusterroles"], verbs: ["bind"], resourceNames: [DEPLOYER_ROLE, READER_ROLE] },
  { apiGroups: [RBAC], resources: ["clusterroles"], verbs: ["get", "patch", "update", "escalate"], resourceNames: [DEPLOYER_ROLE] },
];

/** The same in the namespace that holds the accounts applications are deployed with. */
export const ACCOUNTS_RULES: readonly RightsRule[] = [
  { apiGroups: [""], resources: ["serviceaccounts", "secrets"], verbs: [...READ_VERBS, ...WRITE] },
  { apiGroups: [""], resources: ["serviceaccounts"], verbs: ["impersonate"] },
  { apiGroups: [RBAC], resources: ["roles", "rolebindings"], verbs: [...READ_VERBS, ...WRITE] },
];

/** The same in Argosy's own namespace, where the kubeconfigs of engine clusters are kept. */
export const SYSTEM_RULES: readonly RightsRule[] = [{ apiGroups: [""], resources: ["secrets"], verbs: ["get"] }];

/**
 * What Argosy may do on a cluster that hosts instances. It can give an instance's controller only rights it holds itself,
 * so it holds those of the controller's Role too.
 */
export const ENGINE_CLUSTER_RULES: readonly RightsRule[] = [
  { apiGroups: [""], resources: ["namespaces"], verbs: [...READ_VERBS, "create", "patch", "delete"] },
  { apiGroups: ["apiextensions.k8s.io"], resources: ["customresourcedefinitions"], verbs: [...READ_VERBS, "create", "patch"] },
  { apiGroups: ["argoproj.io"], resources: ["applications", "applicationsets", "appprojects"], verbs: [...READ_VERBS, ...WRITE] },
  {
    apiGroups: [""],
    resources: ["configmaps", "secrets", "serviceaccounts", "services", "resourcequotas", "limitranges"],
    verbs: [...READ_VERBS, ...WRITE],
  },
  { apiGroups: [""], resources: ["events"], verbs: ["create", "list"] },
  { apiGroups: [""], resources: ["pods"], verbs: [...READ_VERBS, "delete"] },
  // Metrics of controllers, and of nothing else that listens: a proxied request names pod and port.
  { apiGroups: [""], resources: ["pods/proxy"], verbs: ["get"], resourceNames: ["argocd-application-controller-0:8082"] },
  { apiGroups: ["apps"], resources: ["deployments", "statefulsets"], verbs: [...READ_VERBS, ...WRITE] },
  { apiGroups: ["networking.k8s.io"], resources: ["networkpolicies"], verbs: [...READ_VERBS, ...WRITE] },
  { apiGroups: [RBAC], resources: ["roles", "rolebindings"], verbs: [...READ_VERBS, ...WRITE] },
];

/** Every right the rules give on the cluster with the users' resources. */
export function apiClusterRights(): readonly NeededRight[] {
  return [
    ...rightsOf(API_CLUSTER_RULES),
    ...rightsOf(ACCOUNTS_RULES).map((right) => ({ ...right, namespace: ACCOUNTS_NAMESPACE })),
    ...rightsOf(SYSTEM_RULES).map((right) => ({ ...right, namespace: SYSTEM_NAMESPACE })),
  ];
}

/** Every right the rules give on a cluster that hosts instances. */
export function engineClusterRights(): readonly NeededRight[] {
  return rightsOf(ENGINE_CLUSTER_RULES);
}

function rightsOf(rules: readonly RightsRule[]): readonly NeededRight[] {
  return rules.flatMap(({ apiGroups, resources, verbs, resourceNames }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((path) => {
        const [resource = "", subresource] = path.split("/");
        const what = { group, resource, ...(subresource === undefined ? {} : { subresource }) };
        const named = resourceNames === undefined ? [what] : resourceNames.map((name) => ({ ...what, name }));
        return verbs.flatMap((verb) => named.map((one) => ({ verb, ...one })));
      }),
    ),
  );
}
