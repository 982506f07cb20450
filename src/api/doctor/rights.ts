import { ACCOUNTS_NAMESPACE, CLASS_LABELS_POLICY, DEPLOYER_ROLE, READER_ROLE, SYSTEM_NAMESPACE } from "../../domain/names.ts";
import { ROLES, type Role } from "../../domain/role.ts";

/** A rule of a Kubernetes role. */
export interface RightsRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** A rule, and the roles whose processes cannot do their work without it. */
export interface RoleRule extends RightsRule {
  readonly roles: readonly Role[];
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
const ARGO = "argoproj.io";
const KINDS = [
  "gitopsdeployments",
  "gitopsdeploymentsyncruns",
  "gitopsdeploymentmanagedenvironments",
  "gitopsdeploymentrepositorycredentials",
];
export const READ_VERBS = ["get", "list", "watch"];
export const WRITE = ["create", "update", "patch", "delete"];
/** How Argosy itself writes: it replaces nothing, so that it needs no `update`. */
const OWN_WRITES = ["create", "patch", "delete"];
const WATCH_AND_APPLY = ["list", "watch", "create", "patch"];

/** Roles that speak to clusters which host instances. The others need none of their credentials. */
const ON_ENGINE_CLUSTERS: readonly Role[] = ["scheduler", "reconciler", "provisioner", "health", "api"];

/**
 * What Argosy may do on the cluster with the users' resources: the workspace role reads them and writes their status, the reconciler puts
 * owner bindings into their namespaces. `bind` and `escalate` name exactly Argosy's own roles: it may not hand out others.
 */
export const API_CLUSTER_RULES: readonly RoleRule[] = [
  { roles: ["workspace"], apiGroups: [""], resources: ["namespaces"], verbs: READ_VERBS },
  // Whether a namespace is still the one a row was made for, before a right is given in it.
  { roles: ["reconciler"], apiGroups: [""], resources: ["namespaces"], verbs: ["get"] },
  // By this namespace `argosy adopt` tells whether two kubeconfigs lead to one cluster.
  { roles: ["api"], apiGroups: [""], resources: ["namespaces"], verbs: ["get"], resourceNames: ["kube-system"] },
  // Whether labels that decide the class of a workspace are kept from users.
  {
    roles: ["api"],
    apiGroups: ["admissionregistration.k8s.io"],
    resources: ["validatingadmissionpolicies", "validatingadmissionpolicybindings"],
    verbs: ["get"],
    resourceNames: [CLASS_LABELS_POLICY],
  },
  // The doctor asks what the accounts of other processes may do.
  { roles: ["api"], apiGroups: ["authorization.k8s.io"], resources: ["subjectaccessreviews"], verbs: ["create"] },
  { roles: ["workspace"], apiGroups: [GITOPS], resources: KINDS, verbs: READ_VERBS },
  // Takes its finalizer off.
  { roles: ["workspace"], apiGroups: [GITOPS], resources: ["gitopsdeployments"], verbs: ["patch"] },
  // Runs go some time after their end, where their user wants that.
  { roles: ["workspace"], apiGroups: [GITOPS], resources: ["gitopsdeploymentsyncruns"], verbs: ["delete"] },
  { roles: ["workspace"], apiGroups: [GITOPS], resources: KINDS.map((kind) => `${kind}/status`), verbs: ["patch"] },
  // Credentials that users bring; those of the types they are brought in are watched, any other is read when a resource names it.
  { roles: ["workspace"], apiGroups: [""], resources: ["secrets"], verbs: READ_VERBS },
  { roles: ["workspace"], apiGroups: [""], resources: ["events"], verbs: ["create", "patch"] },
  { roles: ["reconciler"], apiGroups: [RBAC], resources: ["rolebindings", "clusterrolebindings"], verbs: [...READ_VERBS, ...OWN_WRITES] },
  {
    roles: ["reconciler"],
    apiGroups: [RBAC],
    resources: ["clusterroles"],
    verbs: ["bind"],
    resourceNames: [DEPLOYER_ROLE, READER_ROLE],
  },
  // Keeps the roles in step with the kinds that the cluster serves.
  {
    roles: ["reconciler"],
    apiGroups: [RBAC],
    resources: ["clusterroles"],
    verbs: ["get", "patch", "escalate"],
    resourceNames: [DEPLOYER_ROLE, READER_ROLE],
  },
];

/** The same in the namespace that holds the accounts applications are deployed with. */
export const ACCOUNTS_RULES: readonly RoleRule[] = [
  // At its start every process asks for the newest epoch that stands there: none serves on a database that is older (ADR 0024).
  { roles: ROLES, apiGroups: [""], resources: ["serviceaccounts"], verbs: ["list"] },
  { roles: ["reconciler"], apiGroups: [""], resources: ["serviceaccounts"], verbs: [...READ_VERBS, ...OWN_WRITES] },
  // Instances enter this cluster by tokens of their accounts.
  { roles: ["reconciler"], apiGroups: [""], resources: ["serviceaccounts/token"], verbs: ["create"] },
  // Earlier versions kept tokens without an end in Secrets, which are removed.
  { roles: ["reconciler"], apiGroups: [""], resources: ["secrets"], verbs: ["delete"] },
  // It tries whether an owner may still write, searches as an owner, and can let instances act only as whom it may act itself.
  { roles: ["reconciler"], apiGroups: [""], resources: ["serviceaccounts"], verbs: ["impersonate"] },
  { roles: ["reconciler"], apiGroups: [RBAC], resources: ["roles"], verbs: [...READ_VERBS, ...OWN_WRITES] },
];

/** The same in Argosy's own namespace, where the kubeconfigs of engine clusters are kept. */
export const SYSTEM_RULES: readonly RoleRule[] = [
  // The workspace role connects to none of these clusters, but has to know their addresses: no user may deploy there.
  { roles: ["workspace", ...ON_ENGINE_CLUSTERS], apiGroups: [""], resources: ["secrets"], verbs: ["get"] },
];

/** The same on the API cluster where its users' tokens are accepted (`authentication.kubernetes`), and nowhere else. */
export const TOKEN_REVIEW_RULES: readonly RoleRule[] = [
  { roles: ["api"], apiGroups: ["authentication.k8s.io"], resources: ["tokenreviews"], verbs: ["create"] },
];

/**
 * What Argosy may do on a cluster that hosts instances. The provisioner can give an instance's controller only rights it holds itself,
 * so it holds those of the controller's Role too.
 */
export const ENGINE_CLUSTER_RULES: readonly RoleRule[] = [
  { roles: ["provisioner"], apiGroups: [""], resources: ["namespaces"], verbs: [...READ_VERBS, ...OWN_WRITES] },
  {
    roles: ["provisioner"],
    apiGroups: ["apiextensions.k8s.io"],
    resources: ["customresourcedefinitions"],
    verbs: ["list", "create", "patch"],
  },
  {
    roles: ["provisioner"],
    apiGroups: [""],
    resources: ["configmaps", "secrets", "serviceaccounts", "services", "resourcequotas", "limitranges"],
    verbs: WATCH_AND_APPLY,
  },
  { roles: ["provisioner"], apiGroups: ["apps"], resources: ["deployments", "statefulsets"], verbs: WATCH_AND_APPLY },
  { roles: ["provisioner"], apiGroups: ["networking.k8s.io"], resources: ["networkpolicies"], verbs: WATCH_AND_APPLY },
  { roles: ["provisioner"], apiGroups: [RBAC], resources: ["roles", "rolebindings"], verbs: WATCH_AND_APPLY },
  // The three rules of the Role of an instance's controller, which are given away.
  {
    roles: ["provisioner"],
    apiGroups: [ARGO],
    resources: ["applications", "applicationsets", "appprojects"],
    verbs: [...READ_VERBS, ...WRITE],
  },
  { roles: ["provisioner"], apiGroups: [""], resources: ["secrets", "configmaps"], verbs: READ_VERBS },
  { roles: ["provisioner"], apiGroups: [""], resources: ["events"], verbs: ["create", "list"] },
  // What instances contain: Applications and projects, cluster entries and repositories.
  { roles: ["reconciler"], apiGroups: [ARGO], resources: ["applications", "appprojects"], verbs: [...READ_VERBS, ...OWN_WRITES] },
  { roles: ["reconciler"], apiGroups: [""], resources: ["secrets"], verbs: [...READ_VERBS, ...OWN_WRITES] },
  // What the watchdog compares.
  { roles: ["scheduler"], apiGroups: [ARGO], resources: ["applications"], verbs: ["list", "watch"] },
  // Canaries, and requests to compare.
  { roles: ["health"], apiGroups: [ARGO], resources: ["applications", "appprojects"], verbs: ["list", ...OWN_WRITES] },
  { roles: ["provisioner"], apiGroups: [""], resources: ["pods"], verbs: ["list"] },
  { roles: ["scheduler", "health", "api"], apiGroups: [""], resources: ["pods"], verbs: ["get", "list"] },
  // Restarts what stands still.
  { roles: ["health"], apiGroups: [""], resources: ["pods"], verbs: ["delete"] },
  // Metrics of controllers, and of nothing else that listens: a proxied request names pod and port.
  {
    roles: ["scheduler", "health", "api"],
    apiGroups: [""],
    resources: ["pods/proxy"],
    verbs: ["get"],
    resourceNames: ["argocd-application-controller-0:8082"],
  },
  // Counts the cluster entries of instances, for what each costs. It asks for metadata alone, but RBAC knows no right to that alone.
  { roles: ["api"], apiGroups: [""], resources: ["secrets"], verbs: ["list"] },
];

/** Those of the rules that one of the roles needs, as Kubernetes takes them. */
export function rulesFor(rules: readonly RoleRule[], roles: readonly Role[]): readonly RightsRule[] {
  return rules.filter((rule) => rule.roles.some((role) => roles.includes(role))).map(({ roles: _needing, ...rule }) => rule);
}

/** Every right that processes of these roles need on the cluster with the users' resources; `reviewsTokens`: its users' tokens are accepted. */
export function apiClusterRights(roles: readonly Role[] = ROLES, { reviewsTokens = false } = {}): readonly NeededRight[] {
  return distinct([
    ...rightsOf(rulesFor([...API_CLUSTER_RULES, ...(reviewsTokens ? TOKEN_REVIEW_RULES : [])], roles)),
    ...rightsOf(rulesFor(ACCOUNTS_RULES, roles)).map((right) => ({ ...right, namespace: ACCOUNTS_NAMESPACE })),
    ...rightsOf(rulesFor(SYSTEM_RULES, roles)).map((right) => ({ ...right, namespace: SYSTEM_NAMESPACE })),
  ]);
}

/** Every right that processes of these roles need on a cluster that hosts instances. */
export function engineClusterRights(roles: readonly Role[] = ROLES): readonly NeededRight[] {
  return distinct(rightsOf(rulesFor(ENGINE_CLUSTER_RULES, roles)));
}

function distinct(rights: readonly NeededRight[]): readonly NeededRight[] {
  return [...new Map(rights.map((right) => [JSON.stringify(right), right])).values()];
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
