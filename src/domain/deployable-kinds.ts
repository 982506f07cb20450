import { CORE_GROUP, type DeploymentsSpec, EVERY_GROUP, REFUSED_GROUPS } from "./fleet.ts";

/** What a declaration says of the kinds that may be deployed to the API cluster. Nothing said: the kinds of Kubernetes below. */
export type DeclaredGroups = Partial<DeploymentsSpec>;

/** A kind that stands in a namespace, and the resource by which an API server calls it. */
export interface KindOfResource {
  readonly group: string;
  readonly resource: string;
  readonly kind: string;
}

/**
 * Kinds of Kubernetes itself that every workspace may deploy, whoever may write into it: what these can do stays in their namespace, as far
 * as admission keeps pods there. One by one, because a later Kubernetes adds kinds to its groups too. docs/rights.md says of each why it
 * is here, and of the others why not.
 */
const BUILT_IN_KINDS: readonly KindOfResource[] = [
  ["", "configmaps", "ConfigMap"],
  ["", "persistentvolumeclaims", "PersistentVolumeClaim"],
  ["", "pods", "Pod"],
  ["", "replicationcontrollers", "ReplicationController"],
  ["", "secrets", "Secret"],
  ["", "serviceaccounts", "ServiceAccount"],
  ["", "services", "Service"],
  ["apps", "daemonsets", "DaemonSet"],
  ["apps", "deployments", "Deployment"],
  ["apps", "replicasets", "ReplicaSet"],
  ["apps", "statefulsets", "StatefulSet"],
  ["autoscaling", "horizontalpodautoscalers", "HorizontalPodAutoscaler"],
  ["batch", "cronjobs", "CronJob"],
  ["batch", "jobs", "Job"],
  ["networking.k8s.io", "ingresses", "Ingress"],
  ["networking.k8s.io", "networkpolicies", "NetworkPolicy"],
  ["policy", "poddisruptionbudgets", "PodDisruptionBudget"],
].map(([group = "", resource = "", kind = ""]) => ({ group, resource, kind }));

const BUILT_IN: ReadonlySet<string> = new Set(BUILT_IN_KINDS.map(({ group, resource }) => `${group}/${resource}`));

/**
 * Groups nobody may deploy to through Argosy: rights (RBAC), questions about rights and tokens, and the kinds by which
 * users instruct Argosy and Argo CD. No declaration lifts this.
 */
export const FORBIDDEN_GROUPS: ReadonlySet<string> = new Set([
  "argoproj.io",
  "argosy.dev",
  "authentication.k8s.io",
  "authorization.k8s.io",
  // The same rights under another name.
  "authorization.openshift.io",
  "managed-gitops.redhat.com",
  "rbac.authorization.k8s.io",
]);

/**
 * Limits that an administrator set on the namespace, bindings of pods to nodes, which belong to the scheduler, and what stands outside
 * namespaces.
 */
export const FORBIDDEN_CORE: ReadonlySet<string> = new Set([
  "bindings",
  "limitranges",
  "namespaces",
  "nodes",
  "persistentvolumes",
  "resourcequotas",
]);

/** A group or `group/resource` of a list of groups; without `resource` the whole group. */
export function readGroupEntry(entry: string): { readonly group: string; readonly resource?: string } {
  const [written = "", resource] = entry.split("/");
  const group = written === CORE_GROUP ? "" : written;
  return resource === undefined ? { group } : { group, resource };
}

/** Whether nothing that is declared opens it. */
export function isForbidden({ group, resource }: { readonly group: string; readonly resource?: string }): boolean {
  return FORBIDDEN_GROUPS.has(group) || (group === "" && resource !== undefined && FORBIDDEN_CORE.has(resource));
}

/** Whether a list of refusals has it: a group refuses all below it too, as `fluxcd.io` does `kustomize.toolkit.fluxcd.io`. */
export function isRefused(one: { readonly group: string; readonly resource?: string }, refusedGroups: readonly string[]): boolean {
  return refusedGroups.map(readGroupEntry).some(({ group, resource }) => {
    if (resource !== undefined) return group === one.group && resource === one.resource;
    return group === one.group || (group !== "" && one.group.endsWith(`.${group}`));
  });
}

/**
 * Whether objects of a resource may be deployed into a namespace of the API cluster, as far as its name says: refused is what always is
 * and what the administrator refuses; allowed are the kinds of Kubernetes that are listed, and what the administrator allows.
 */
export function mayBeDeployed(
  { group, resource }: Pick<KindOfResource, "group" | "resource">,
  { allowedGroups = [], refusedGroups = REFUSED_GROUPS }: DeclaredGroups,
): boolean {
  if (isForbidden({ group, resource }) || isRefused({ group, resource }, refusedGroups)) return false;
  if (BUILT_IN.has(`${group}/${resource}`) || allowedGroups.includes(EVERY_GROUP)) return true;
  return allowedGroups
    .map(readGroupEntry)
    .some((entry) => entry.group === group && (entry.resource === undefined || entry.resource === resource));
}

/** The same of a kind. The resource of one that is not listed is guessed as Kubernetes guesses it, which is right for all but odd plurals. */
export function mayKindBeDeployed({ group, kind }: Pick<KindOfResource, "group" | "kind">, declared: DeclaredGroups): boolean {
  const listed = BUILT_IN_KINDS.find((one) => one.group === group && one.kind === kind);
  return mayBeDeployed({ group, resource: listed?.resource ?? pluralOf(kind.toLowerCase()) }, declared);
}

function pluralOf(kind: string): string {
  if (kind.endsWith("s")) return `${kind}es`;
  return kind.endsWith("y") ? `${kind.slice(0, -1)}ies` : `${kind}s`;
}
