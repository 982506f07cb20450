import { asArray, asObject, asString } from "./json.ts";

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

/**
 * Reads answers of aggregated discovery (apidiscovery.k8s.io/v2, KEP-3352). A version that is not `Current` makes its whole
 * group silent: what an unreachable server last said may be out of date, or empty. `undefined` when an answer is not one of
 * those.
 */
export function parseDiscovery(answers: readonly unknown[]): Discovery | undefined {
  const lists = answers.map(asObject);
  if (lists.some((list) => list["kind"] !== "APIGroupDiscoveryList")) return undefined;
  const groups = lists.flatMap((list) => asArray(list["items"])).map(parseGroup);
  return {
    resources: groups.flatMap((group) => group.resources),
    silentGroups: groups.filter((group) => group.isSilent).map((group) => group.name),
  };
}

function parseGroup(raw: unknown): {
  readonly name: string;
  readonly isSilent: boolean;
  readonly resources: readonly DiscoveredResource[];
} {
  const name = asString(asObject(asObject(raw)["metadata"])["name"]);
  const versions = asArray(asObject(raw)["versions"]).map(asObject);
  return {
    name,
    isSilent: versions.some((version) => version["freshness"] === "Stale"),
    resources: versions.flatMap((version) => asArray(version["resources"]).flatMap((resource) => parseResource(name, asObject(resource)))),
  };
}

function parseResource(group: string, raw: Readonly<Record<string, unknown>>): readonly DiscoveredResource[] {
  const name = asString(raw["resource"]);
  const namespaced = raw["scope"] === "Namespaced";
  const subresources = asArray(raw["subresources"]).map(asObject);
  const kind = kindOf(asObject(raw["responseKind"]));
  return [
    { group, name, ...kind, namespaced, verbs: strings(raw["verbs"]) },
    ...subresources.map((sub) => ({ group, name: `${name}/${asString(sub["subresource"])}`, namespaced, verbs: strings(sub["verbs"]) })),
  ];
}

function kindOf(raw: Readonly<Record<string, unknown>>): { readonly kind?: string } {
  const kind = asString(raw["kind"]);
  return kind === "" ? {} : { kind };
}

/** Group versions (`group/version`) of an answer in the old form (meta/v1 APIGroupList). */
export function parseGroups(answer: unknown): readonly string[] {
  const versions = asArray(asObject(answer)["groups"]).flatMap((group) => asArray(asObject(group)["versions"]));
  return versions.map((version) => asString(asObject(version)["groupVersion"])).filter((version) => version.includes("/"));
}

/** Resources of one group version in the old form (meta/v1 APIResourceList). */
export function parseLegacyResources(group: string, answer: unknown): readonly DiscoveredResource[] {
  return asArray(asObject(answer)["resources"]).map((raw) => {
    const resource = asObject(raw);
    return {
      group,
      name: asString(resource["name"]),
      ...kindOf(resource),
      namespaced: resource["namespaced"] === true,
      verbs: strings(resource["verbs"]),
    };
  });
}

function strings(raw: unknown): readonly string[] {
  return asArray(raw).filter((entry) => typeof entry === "string");
}
