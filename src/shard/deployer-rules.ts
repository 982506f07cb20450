import { canonicalJson } from "../domain/hash.ts";

/** One kind of resource as discovery names it; a subresource has a name with a slash. */
export interface DiscoveredResource {
  readonly group: string;
  readonly name: string;
  /** What its objects call themselves. */
  readonly kind?: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
}

export interface Discovery {
  readonly resources: readonly DiscoveredResource[];
  /** Groups that exist but whose server did not say what is in them. */
  readonly silentGroups: readonly string[];
}

export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

export const DEPLOYER_VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"] as const;

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

/** Limits that an administrator set on the namespace, and bindings of pods to nodes, which belong to the scheduler. */
export const FORBIDDEN_CORE: ReadonlySet<string> = new Set(["bindings", "limitranges", "resourcequotas"]);

/** Subresources that change nothing their parent's own fields would not change as well. */
export const HARMLESS_SUBRESOURCES: ReadonlySet<string> = new Set(["scale"]);

/**
 * Rules of the role that owners' accounts are bound to: everything that can be created in a namespace, except what could
 * widen rights, make tokens, impersonate, or lift quotas, and except groups that are refused, each with all below it. One rule per
 * group, sorted. A group whose server is silent keeps the rules in force (`present`), so that an outage of an aggregated API takes
 * nobody's rights away.
 */
export function deployerRules(
  discovery: Discovery,
  { present, refusedGroups }: { readonly present: readonly PolicyRule[]; readonly refusedGroups: readonly string[] },
): readonly PolicyRule[] {
  const isRefused = refusalOf(refusedGroups);
  const byGroup = new Map<string, Set<string>>();
  for (const resource of discovery.resources.filter(({ group }) => !isRefused(group))) {
    if (isDeployable(resource)) byGroup.set(resource.group, (byGroup.get(resource.group) ?? new Set()).add(resource.name));
  }
  const silent = new Set(discovery.silentGroups);
  for (const rule of present) {
    const group = rule.apiGroups[0];
    if (group === undefined || !silent.has(group) || isRefused(group)) continue;
    const names = byGroup.get(group) ?? new Set();
    for (const name of rule.resources) if (name !== "*" && !FORBIDDEN_CORE.has(name)) names.add(name);
    byGroup.set(group, names);
  }
  return [...byGroup]
    .filter(([, names]) => names.size > 0)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([group, names]) => ({ apiGroups: [group], resources: [...names].sort(), verbs: DEPLOYER_VERBS }));
}

function refusalOf(refusedGroups: readonly string[]): (group: string) => boolean {
  return (group) => FORBIDDEN_GROUPS.has(group) || refusedGroups.some((each) => group === each || group.endsWith(`.${each}`));
}

function isDeployable(resource: DiscoveredResource): boolean {
  if (!resource.namespaced) return false;
  const [parent = "", subresource, ...deeper] = resource.name.split("/");
  if (resource.group === "" && FORBIDDEN_CORE.has(parent)) return false;
  if (subresource === undefined) return resource.verbs.includes("create");
  return deeper.length === 0 && HARMLESS_SUBRESOURCES.has(subresource);
}

/** Whether two lists of rules are the same word for word. */
export function sameRules(a: readonly PolicyRule[], b: readonly PolicyRule[]): boolean {
  return canonicalJson(a.map(plain)) === canonicalJson(b.map(plain));
}

function plain({ apiGroups, resources, verbs, resourceNames = [] }: PolicyRule): PolicyRule {
  return { apiGroups, resources, verbs, resourceNames };
}
