import type { Discovery } from "../domain/parse-discovery.ts";
import { deployerRules, type PolicyRule } from "./deployer-rules.ts";

export const READER_VERBS = ["get", "list", "watch"] as const;

/** What tells Argo CD that the cluster serves further kinds: definitions, and APIs of other servers. Nobody deploys these. */
const NEW_KINDS: readonly (readonly [string, string])[] = [
  ["apiextensions.k8s.io", "customresourcedefinitions"],
  ["apiregistration.k8s.io", "apiservices"],
];

/** Kinds that may be deployed and that no instance ever reads: the settings of instances leave them out. Messages in events are other people's. */
const NEVER_READ: ReadonlySet<string> = new Set([
  "/endpoints",
  "/events",
  "coordination.k8s.io/leases",
  "discovery.k8s.io/endpointslices",
  "events.k8s.io/events",
]);

/**
 * Rules of the role by which instances read the API cluster: the kinds that Argo CD has to know all objects of, which are those that some
 * workspace may deploy, and what tells of new kinds. No wildcard and no subresource: who may get `pods/exec` runs commands. `present`: both
 * roles as they are, for groups whose server is silent.
 */
export function readerRules(discovery: Discovery, declared: Parameters<typeof deployerRules>[1]): readonly PolicyRule[] {
  const kinds = deployerRules(discovery, declared).flatMap(kindsOf);
  const read = kinds.filter(([group, name]) => !name.includes("/") && !NEVER_READ.has(`${group}/${name}`));
  return rulesOf([...read, ...NEW_KINDS]);
}

/** Rules that hold these kinds, given as group and name. */
function rulesOf(kinds: readonly (readonly [string, string])[]): readonly PolicyRule[] {
  const byGroup = Map.groupBy(kinds, ([group]) => group);
  return [...byGroup]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([group, all]) => ({ apiGroups: [group], resources: [...new Set(all.map(([, name]) => name))].sort(), verbs: READER_VERBS }));
}

/**
 * The rules that the deploying role gets now: `wanted` without the kinds that are new there and that instances may not watch yet. Argo CD asks
 * for single objects of a kind it does not watch, and neither prunes nor cascades what it has deployed of it.
 */
export function withoutAwaited(
  wanted: readonly PolicyRule[],
  { present, awaited }: { readonly present: readonly PolicyRule[]; readonly awaited: readonly PolicyRule[] },
): readonly PolicyRule[] {
  const [has, waits] = [present, awaited].map((rules) => new Set(rules.flatMap(kindsOf).map(String))) as [Set<string>, Set<string>];
  const isGiven = (group: string, name: string): boolean => {
    const [parent = ""] = name.split("/");
    return has.has(String([group, name])) || !waits.has(String([group, parent]));
  };
  return wanted
    .map((rule) => ({ ...rule, resources: rule.resources.filter((name) => rule.apiGroups.every((group) => isGiven(group, name))) }))
    .filter(({ resources }) => resources.length > 0);
}

function kindsOf({ apiGroups, resources }: PolicyRule): readonly (readonly [string, string])[] {
  return apiGroups.flatMap((group) => resources.map((name) => [group, name] as const));
}
