import { canonicalJson, sha256 } from "../../domain/hash.ts";
import type { DiscoveredResource, Discovery } from "../../domain/parse-discovery.ts";

/** A rule of the role by which an account of ours reads a user's cluster. */
export interface ReadingRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly ["get", "list", "watch"];
}

const VERBS = ["get", "list", "watch"] as const;

/**
 * What there is in the core group, but for what no instance reads (endpoints, events) and what nobody deploys. No definition adds to it. Its
 * subresources are those by which commands are run (`pods/exec`, to RBAC a `get` before Kubernetes 1.35), and by which what runs is reached
 * (`proxy`, of pods, services and nodes).
 */
const CORE = [
  ...["configmaps", "limitranges", "namespaces", "persistentvolumeclaims", "pods", "podtemplates", "replicationcontrollers"],
  ...["resourcequotas", "secrets", "serviceaccounts", "services"],
] as const;
const CORE_OUTSIDE_NAMESPACES = ["nodes", "persistentvolumes"] as const;

/** Kinds that the settings of instances leave out. */
const NEVER_READ: ReadonlySet<string> = new Set(["coordination.k8s.io/leases", "discovery.k8s.io/endpointslices", "events.k8s.io/events"]);

/** Subresources that show what their parent shows. A definition can add no others. */
const HARMLESS_SUBRESOURCES: ReadonlySet<string> = new Set(["scale", "status"]);

/** Groups of the API server itself that have no other subresources, for a cluster that does not say what it serves. */
const BUILT_IN_GROUPS = [
  ...["admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "apps", "autoscaling", "batch"],
  ...["flowcontrol.apiserver.k8s.io", "networking.k8s.io", "node.k8s.io", "policy", "rbac.authorization.k8s.io", "scheduling.k8s.io"],
  "storage.k8s.io",
] as const;

/** More groups than a cluster with every provider of its clouds has. */
const GROUPS_AT_MOST = 2_000;
/** A role with more than this in its names, in characters, is not written: API servers take objects of some 1.5 MB. */
const NAMES_AT_MOST = 200_000;

/**
 * Rules by which an account of ours reads a user's cluster while it is not, or no longer, the owner: whole objects of all kinds, and no
 * subresource that connects to anything. RBAC cannot except from `*`, so a group is named with `*` only if discovery shows nothing else in
 * it, as is so for everything that definitions make; of any other group, whole objects are named one by one. `isNamespaced`: the role stands
 * in a namespace. `undefined`: the cluster names more than a role can hold.
 */
export function readingRules(
  { resources, silentGroups }: Discovery,
  { isNamespaced }: { readonly isNamespaced: boolean },
): readonly ReadingRule[] | undefined {
  const silent = new Set(silentGroups);
  const open: string[] = [];
  const named = new Map<string, readonly string[]>();
  for (const [group, all] of Map.groupBy(resources, ({ group }) => group)) {
    const whole = all.filter((resource) => isReadWhole(resource) && (resource.namespaced || !isNamespaced));
    if (!isName(group) || whole.length === 0) continue;
    if (!silent.has(group) && all.every(isHarmless)) open.push(group);
    else named.set(group, [...new Set(whole.map(({ name }) => name))].sort());
  }
  const names = [...open, ...named.keys(), ...[...named.values()].flat()];
  if (open.length + named.size > GROUPS_AT_MOST || names.join("").length > NAMES_AT_MOST) return undefined;
  return rulesOf(isNamespaced, open, named);
}

/** The same for a cluster that does not say what it serves. */
export function builtInRules({ isNamespaced }: { readonly isNamespaced: boolean }): readonly ReadingRule[] {
  return rulesOf(isNamespaced, BUILT_IN_GROUPS, new Map([["certificates.k8s.io", ["certificatesigningrequests"]]]));
}

/** A text that is another one when the rules are others. */
export function markOf(rules: readonly ReadingRule[]): string {
  return sha256(canonicalJson(rules)).slice(0, 20);
}

function rulesOf(isNamespaced: boolean, open: readonly string[], named: ReadonlyMap<string, readonly string[]>): readonly ReadingRule[] {
  const core = isNamespaced ? CORE : [...CORE, ...CORE_OUTSIDE_NAMESPACES].sort();
  return [
    { apiGroups: [""], resources: core, verbs: VERBS },
    ...(open.length === 0 ? [] : [{ apiGroups: [...open].sort(), resources: ["*"], verbs: VERBS }]),
    ...[...named].sort(([a], [b]) => (a < b ? -1 : 1)).map(([group, resources]) => ({ apiGroups: [group], resources, verbs: VERBS })),
  ];
}

function isReadWhole({ group, name, verbs }: DiscoveredResource): boolean {
  return isName(name) && !NEVER_READ.has(`${group}/${name}`) && verbs.some((verb) => VERBS.some((each) => each === verb));
}

function isHarmless({ group, name }: DiscoveredResource): boolean {
  const [parent = "", subresource, ...deeper] = name.split("/");
  if (!isName(parent) || deeper.length > 0 || NEVER_READ.has(`${group}/${parent}`)) return false;
  return subresource === undefined || HARMLESS_SUBRESOURCES.has(subresource);
}

/** Neither the core group, nor a wildcard, nor a subresource has such a name. */
function isName(text: string): boolean {
  return text.length <= 253 && /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(text);
}
