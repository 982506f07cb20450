import type { EgressSpec } from "../../domain/fleet.ts";
import type { ObservedDeployment } from "../../domain/user-resource.ts";
import type { ApplicationSpec } from "../../domain/workspace.ts";
import * as say from "../api/messages.ts";
import { checkDeploymentSpec, type DeploymentSpec } from "../api/schema.ts";
import type { Problem } from "../problem.ts";
import { hasControlCharacters, parseRepositoryUrl } from "../repository-url.ts";

export type ParsedDeployment =
  | { readonly ok: true; readonly spec: ApplicationSpec }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/**
 * Reads what a GitOpsDeployment asks for, or says everything that is wrong with it. The schema is checked again: the
 * resource may be older than it.
 */
export function parseDeployment(observed: Pick<ObservedDeployment, "spec" | "refreshedAt">, egress: EgressSpec): ParsedDeployment {
  const checked = checkDeploymentSpec(observed.spec);
  if (!checked.ok) return { ok: false, problems: checked.problems };
  const { source, destination = {}, syncPolicy, type } = checked.spec;
  const url = parseRepositoryUrl(source.repoURL, egress);
  const problems = [
    ...(url.ok ? [] : [url.problem]),
    ...pathProblems(source.path),
    ...revisionProblems(source.targetRevision ?? ""),
    ...destinationProblems(destination),
  ];
  if (!url.ok || problems.length > 0) return { ok: false, problems };
  return {
    ok: true,
    spec: {
      source: { repoUrl: url.url, path: source.path.trim(), targetRevision: (source.targetRevision ?? "").trim() },
      destination: destinationOf(destination),
      type: type === "automated" ? "automated" : "manual",
      createNamespace: syncPolicy?.syncOptions?.includes("CreateNamespace=true") ?? false,
      ...(observed.refreshedAt === "" ? {} : { refresh: observed.refreshedAt }),
    },
  };
}

function pathProblems(raw: string): readonly Problem[] {
  const path = raw.trim();
  const refuse = (message: string): readonly Problem[] => [{ path: "spec.source.path", message }];
  if (path === "") return refuse(say.EMPTY_PATH);
  if (path === "/") return refuse(say.ROOT_PATH);
  if (hasControlCharacters(path)) return refuse("spec.source.path must not contain control characters");
  return leavesRepository(path) ? refuse("spec.source.path must stay inside the repository") : [];
}

/** Whether walking the path comes above its start at any point. */
function leavesRepository(path: string): boolean {
  let depth = 0;
  for (const segment of path.split("/")) {
    if (segment === "..") depth -= 1;
    else if (segment !== "" && segment !== ".") depth += 1;
    if (depth < 0) return true;
  }
  return false;
}

function revisionProblems(raw: string): readonly Problem[] {
  const revision = raw.trim();
  const refuse = (message: string): readonly Problem[] => [{ path: "spec.source.targetRevision", message }];
  if (hasControlCharacters(revision)) return refuse("spec.source.targetRevision must not contain control characters");
  return revision.startsWith("-") ? refuse("spec.source.targetRevision must not begin with '-'") : [];
}

type Destination = NonNullable<DeploymentSpec["destination"]>;

/** Whether there is an environment of that name, and whether it works, changes by itself: that is judged when it is used. */
function destinationOf({ environment = "", namespace = "" }: Destination): ApplicationSpec["destination"] {
  return environment === "" ? {} : { environment, namespace };
}

function destinationProblems({ environment = "", namespace = "" }: Destination): readonly Problem[] {
  // No environment can be called so. The name would be repeated in messages, journals and logs, and a terminal would obey it.
  if (hasControlCharacters(environment))
    return [{ path: "spec.destination.environment", message: "spec.destination.environment must not contain control characters" }];
  if (environment === "" || namespace !== "") return [];
  return [
    {
      path: "spec.destination.namespace",
      message: say.ENVIRONMENT_WITHOUT_NAMESPACE,
      onUpdate: say.ENVIRONMENT_WITHOUT_NAMESPACE_ON_UPDATE,
    },
  ];
}
