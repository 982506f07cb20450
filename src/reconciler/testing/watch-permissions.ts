import { asArray, asObject, asString, type Json } from "../../domain/json.ts";
import type { FakeApiServer } from "../../runtime/kube/testing/fake-api-server.ts";

/** What Argo CD would have refused, had it refreshed every Application after each write on its instance. */
export interface Permissions {
  /** Sentences, in the order of the writes, each once. */
  readonly refusals: readonly string[];
  /** Nothing that this work writes is judged, only what stands after the next write. */
  unjudged(work: () => Promise<void>): Promise<void>;
}

type Objects = ReadonlyMap<string, Json>;

/**
 * Holds every Application on a server, after each write there, against the project that it names, as Argo CD does before it compares,
 * syncs or cascades: the project is there, and permits its destination and repository. So does a Secret of that repository, if any
 * project of the Application's unit has one. What is permitted is read from projects and from cluster entries that name them.
 */
export function watchPermissions(server: FakeApiServer): Permissions {
  const held = { applications: new Map<string, Json>(), appprojects: new Map<string, Json>(), secrets: new Map<string, Json>() };
  const refusals = new Set<string>();
  let isJudging = true;
  server.onChange(({ type, kind, object }) => {
    const objects = held[type.plural as keyof typeof held] as Map<string, Json> | undefined;
    if (objects === undefined) return;
    const key = keyOf(object);
    if (kind === "DELETED") objects.delete(key);
    else objects.set(key, object);
    if (!isJudging) return;
    for (const application of held.applications.values())
      for (const refusal of refusalsOf(application, { projects: held.appprojects, secrets: held.secrets })) refusals.add(refusal);
  });
  return {
    get refusals() {
      return [...refusals];
    },
    async unjudged(work) {
      isJudging = false;
      await work();
      isJudging = true;
    },
  };
}

function keyOf(object: Json): string {
  const { namespace, name } = asObject(object["metadata"]);
  return `${asString(namespace)}/${asString(name)}`;
}

function refusalsOf(
  application: Json,
  { projects, secrets }: { readonly projects: Objects; readonly secrets: Objects },
): readonly string[] {
  const { namespace, name } = asObject(application["metadata"]);
  const { project, destination, source } = asObject(application["spec"]);
  const at = `${asString(namespace)}/${asString(project)}`;
  const spec = asObject(asObject(projects.get(at))["spec"]);
  const standing = [...secrets.values()].filter((secret) => asString(asObject(secret["metadata"])["namespace"]) === asString(namespace));
  const repoUrl = asString(asObject(source)["repoURL"]);
  if (!projects.has(at)) return [`${name} names ${project}, which is not there`];
  return [
    ...(permitsDestination(spec, asObject(destination)) ? [] : [`${name} names ${project}, which does not permit its destination`]),
    ...(asArray(spec["sourceRepos"]).includes(repoUrl) ? [] : [`${name} names ${project}, which does not permit its repository`]),
    ...(readsRepository({ secrets: standing, project: asString(project), repoUrl })
      ? []
      : [`${name} names ${project}, which has no Secret`]),
  ];
}

/** `*` is the one pattern that Argosy writes; everything else is quoted, and matches itself alone. */
function permitsDestination(spec: Json, { server, namespace }: Json): boolean {
  return asArray(spec["destinations"])
    .map(asObject)
    .some((one) => asString(one["server"]).replaceAll("\\", "") === server && [namespace, "*"].includes(one["namespace"]));
}

function readsRepository({
  secrets,
  project,
  repoUrl,
}: {
  readonly secrets: readonly Json[];
  readonly project: string;
  readonly repoUrl: string;
}) {
  const data = secrets.map((secret) => asObject(secret["data"]));
  const owners = data.filter(({ url }) => plain(url) === repoUrl).map((one) => plain(one["project"]));
  // Both projects of a unit have names that end alike.
  const ofUnit = owners.filter((owner) => owner.slice(owner.indexOf("-")) === project.slice(project.indexOf("-")));
  return ofUnit.length === 0 || ofUnit.includes(project);
}

function plain(field: unknown): string {
  return Buffer.from(asString(field), "base64").toString();
}
