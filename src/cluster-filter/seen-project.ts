import { asArray, asObject, asString } from "../domain/json.ts";
import { ANNOTATION_LET_IN } from "../domain/names.ts";
import type { SeenProject } from "../domain/seen-project.ts";
import type { Membership, Wanted } from "./membership.ts";

/** `undefined` for an object without a name, which no API server sends. `server`: the cluster as Applications name it. */
export function readProject(raw: unknown, server: string): SeenProject | undefined {
  const { metadata, spec } = asObject(raw);
  const { name, uid, annotations } = asObject(metadata);
  if (typeof name !== "string") return undefined;
  const letIn = asObject(annotations)[ANNOTATION_LET_IN];
  const namespaces = asArray(asObject(spec)["destinations"])
    .map(asObject)
    .filter((destination) => mayName(destination, server))
    .map((destination) => asString(destination["namespace"]))
    .filter((namespace) => namespace !== "");
  return {
    ...{ name, uid: asString(uid), letIn: typeof letIn === "string" ? letIn : undefined },
    namespaces: namespaces.some(isPattern) ? "everything" : [...new Set(namespaces)].sort(),
  };
}

/** A destination by name may be any cluster: what is let in needlessly only takes memory. */
function mayName(destination: Readonly<Record<string, unknown>>, server: string): boolean {
  const named = asString(destination["server"]);
  return named === server || isPattern(named) || (named === "" && asString(destination["name"]) !== "");
}

/** Argo CD reads destinations as glob patterns. */
function isPattern(text: string): boolean {
  return /[*?[\]{}!\\]/.test(text);
}

/** The namespaces that all projects together need. */
export function wantedBy(projects: Iterable<SeenProject>): Wanted {
  const names = new Set<string>();
  for (const { namespaces } of projects) {
    if (namespaces === "everything") return "everything";
    for (const namespace of namespaces) names.add(namespace);
  }
  return names;
}

/**
 * What a project's annotation is to say once the cache has everything up to this generation; `undefined`: it may stay as it is. What another run of
 * the filter wrote of namespaces that were there at the start stays true: every cache is filled with these from the first list on.
 */
export function nextLetIn({ namespaces, letIn }: SeenProject, membership: Membership, cached: number): string | undefined {
  if (namespaces === "everything" || namespaces.length === 0) return undefined;
  const text = namespaces.join(",");
  const last = Math.max(...namespaces.map((namespace) => membership.joinedAt(namespace) ?? Number.POSITIVE_INFINITY));
  const next = last <= cached || (last <= FIRST && letIn === text) ? text : "";
  return next === (letIn ?? "") ? undefined : next;
}

/** The generation of what is let in when the filter starts. */
const FIRST = 1;
