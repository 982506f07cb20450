import { type DeclaredGroups, mayBeDeployed } from "../domain/deployable-kinds.ts";
import { canonicalJson } from "../domain/hash.ts";
import type { DiscoveredResource, Discovery } from "../domain/parse-discovery.ts";

export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

export const DEPLOYER_VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"] as const;

/**
 * A right to nothing that exists. Kubernetes lets whoever has all rights of a role bind it, and the administrator of a namespace has all others of this
 * one: without it they could put somebody into the owner binding. It stands in the role beside `deployerRules`.
 */
export const OWNER_MARK = { apiGroups: ["owners.argosy.dev"], resources: ["owners"], verbs: ["get"] } as const satisfies PolicyRule;

/** Subresources that change nothing their parent's own fields would not change as well. */
export const HARMLESS_SUBRESOURCES: ReadonlySet<string> = new Set(["scale"]);

/**
 * Rules of the role that owners' accounts are bound to: what `mayDeployInWorkspaces` says of each resource. One rule per group, sorted. A group
 * whose server is silent keeps the rules in force (`present`) as far as they are still allowed, so that an outage of an aggregated API
 * takes nobody's rights away.
 */
export function deployerRules(
  discovery: Discovery,
  { present, declared }: { readonly present: readonly PolicyRule[]; readonly declared: DeclaredGroups },
): readonly PolicyRule[] {
  const byGroup = new Map<string, Set<string>>();
  const add = (group: string, name: string) => byGroup.set(group, (byGroup.get(group) ?? new Set()).add(name));
  for (const resource of discovery.resources) if (mayDeployInWorkspaces(resource, declared)) add(resource.group, resource.name);
  const silent = new Set(discovery.silentGroups);
  for (const { apiGroups, resources } of present) {
    const group = apiGroups[0];
    if (group === undefined || !silent.has(group)) continue;
    for (const name of resources) if (name !== "*" && isAllowedName({ group, name }, declared)) add(group, name);
  }
  return [...byGroup]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([group, names]) => ({ apiGroups: [group], resources: [...names].sort(), verbs: DEPLOYER_VERBS }));
}

/**
 * Whether some workspace may deploy a resource: one that stands in a namespace and can be created there, of a kind that is allowed, or a
 * subresource of such a one that changes nothing the object's own fields would not change. It never widens rights, makes tokens,
 * impersonates, or lifts quotas.
 */
export function mayDeployInWorkspaces(resource: DiscoveredResource, declared: DeclaredGroups): boolean {
  if (!resource.namespaced || !isAllowedName(resource, declared)) return false;
  return resource.name.includes("/") || resource.verbs.includes("create");
}

function isAllowedName({ group, name }: Pick<DiscoveredResource, "group" | "name">, declared: DeclaredGroups): boolean {
  const [parent = "", subresource, ...deeper] = name.split("/");
  if (subresource !== undefined && (deeper.length > 0 || !HARMLESS_SUBRESOURCES.has(subresource))) return false;
  return mayBeDeployed({ group, resource: parent }, declared);
}

/** Whether two lists of rules are the same word for word. */
export function sameRules(a: readonly PolicyRule[], b: readonly PolicyRule[]): boolean {
  return canonicalJson(a.map(plain)) === canonicalJson(b.map(plain));
}

function plain({ apiGroups, resources, verbs, resourceNames = [] }: PolicyRule): PolicyRule {
  return { apiGroups, resources, verbs, resourceNames };
}
