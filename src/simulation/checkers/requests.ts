import { argoName } from "../../workspace/argo-name.ts";
import type { Happening, ObjectHappening } from "../history.ts";
import { TRACKING } from "../models/engine/application.ts";
import { annotationsOf } from "../models/kubernetes/server.ts";

/** What users and Git want, learned from what they did, by the Argo CD Application that has to deploy it. */
export interface UserRequests {
  learn(happening: Happening, at: number): void;
  /** Whether the Application's deployment is wanted and has this object. */
  wants(application: string, object: string): boolean;
  /** When the object was put back, if its user or Git had taken it out; undefined if it never was out, or still is. */
  wantedAgainAt(application: string, object: string): number | undefined;
  /** When the Application's deployment was deleted; undefined while it is wanted. */
  deletedAt(application: string): number | undefined;
  isWanted(application: string): boolean;
  /** Folders its user has wanted it to deploy, in order. */
  pathsOf(application: string): readonly string[];
}

const NO_FILES: ReadonlySet<string> = new Set();

export function createRequests(): UserRequests {
  const folders = new Map<string, ReadonlySet<string>>();
  const wanted = new Map<string, { readonly namespace: string; readonly path: string }>();
  const ends = new Map<string, number>();
  const paths = new Map<string, readonly string[]>();
  const returns = createReturns();

  const filesOf = (application: string): ReadonlySet<string> => folders.get(wanted.get(application)?.path ?? "") ?? NO_FILES;
  const push = (path: string, after: ReadonlySet<string>, at: number): void => {
    const deploying = [...wanted].filter(([, request]) => request.path === path);
    for (const [application] of deploying) returns.learn(application, { before: filesOf(application), after, at });
    folders.set(path, after);
  };

  const end = (application: string, at: number): void => {
    wanted.delete(application);
    ends.set(application, at);
  };
  const endNamespace = (namespace: string, at: number): void => {
    for (const [application, request] of [...wanted]) if (request.namespace === namespace) end(application, at);
  };
  const act = (happening: Extract<Happening, { readonly kind: "user" }>, at: number): void => {
    const { namespace, path } = happening;
    if (happening.act === "delete-namespace") endNamespace(namespace, at);
    else if (happening.act === "delete") end(argoName(happening), at);
    // A deployment that is edited while its namespace ends goes with the namespace.
    else if (happening.act === "create" || wanted.has(argoName(happening))) {
      returns.learn(argoName(happening), { before: filesOf(argoName(happening)), after: folders.get(path) ?? NO_FILES, at });
      wanted.set(argoName(happening), { namespace, path });
      paths.set(argoName(happening), [...(paths.get(argoName(happening)) ?? []), path]);
    }
  };
  return {
    learn(happening, at) {
      if (happening.kind === "push") push(happening.path, new Set(happening.files), at);
      if (happening.kind === "user") act(happening, at);
    },
    wants: (application, object) => filesOf(application).has(object),
    wantedAgainAt: returns.at,
    deletedAt: (application) => ends.get(application),
    isWanted: (application) => wanted.has(application),
    pathsOf: (application) => paths.get(application) ?? [],
  };
}

/** Remembers what was taken out of Applications, and when it came back. */
function createReturns() {
  const out = new Set<string>();
  const returned = new Map<string, number>();
  return {
    learn(
      application: string,
      change: { readonly before: ReadonlySet<string>; readonly after: ReadonlySet<string>; readonly at: number },
    ): void {
      for (const object of change.before.difference(change.after)) out.add(`${application} ${object}`);
      for (const object of change.after.difference(change.before))
        if (out.delete(`${application} ${object}`)) returned.set(`${application} ${object}`, change.at);
    },
    at: (application: string, object: string) => returned.get(`${application} ${object}`),
  };
}

/** The Application that an object of a user's namespace says it was deployed by; undefined for every other happening. */
export function deployerOf(happening: Happening): { readonly application: string; readonly happening: ObjectHappening } | undefined {
  if (happening.kind !== "object" || happening.cluster !== "api" || happening.resource !== "configmaps") return undefined;
  const tracking = annotationsOf(happening.object)[TRACKING];
  return typeof tracking === "string" ? { application: tracking.slice(0, tracking.indexOf(":")), happening } : undefined;
}
