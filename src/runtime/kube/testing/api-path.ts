import type { ResourceType } from "../resource.ts";

/** What a path of the resource API points at. An empty name means the collection. */
export interface ApiTarget {
  readonly type: ResourceType;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
}

/** Subresources of namespaces themselves; anything else after `/namespaces/<name>/` is a kind of object in that namespace. */
const ofNamespaces: ReadonlySet<string> = new Set(["status", "finalize"]);

/**
 * Reads a path; `undefined` if it is none of ours. With a list of types only these are known; without one every kind is, and its `kind`
 * is left empty.
 */
export function parseApiPath(path: string, types: readonly ResourceType[] | undefined): ApiTarget | undefined {
  const [root, ...rest] = path.split("/").slice(1).map(decodeURIComponent);
  const [group, version, ...segments] = root === "api" ? ["", ...rest] : root === "apis" ? rest : [];
  if (group === undefined || version === undefined || segments.length === 0) return undefined;
  const inNamespace = segments[0] === "namespaces" && segments.length > 2 && !ofNamespaces.has(segments[2] ?? "");
  const [plural = "", name = "", subresource = "", ...surplus] = inNamespace ? segments.slice(2) : segments;
  if (surplus.length > 0) return undefined;
  const type = typeOf(types, { group, version, plural });
  return type === undefined ? undefined : { type, namespace: inNamespace ? (segments[1] ?? "") : "", name, subresource };
}

function typeOf(
  types: readonly ResourceType[] | undefined,
  wanted: Pick<ResourceType, "group" | "version" | "plural">,
): ResourceType | undefined {
  if (types === undefined) return { ...wanted, kind: "", namespaced: true };
  return types.find((type) => type.group === wanted.group && type.version === wanted.version && type.plural === wanted.plural);
}
