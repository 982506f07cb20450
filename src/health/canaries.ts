import type { Millis } from "../domain/clock.ts";
import type { EngineObject } from "../domain/engine.ts";
import { CANARY_NAMESPACE, LABEL_CANARY } from "../domain/names.ts";
import type { CanarySource } from "../domain/probed.ts";

const PROJECT = "argosy-canaries";
/** Refreshed in turn. With one alone, a controller that missed a single refresh would be taken for one that has stopped. */
export const ACTIVE_CANARIES = ["argosy-canary-1", "argosy-canary-2"] as const;
/** Never refreshed on request: it shows whether the controller still compares by itself, which requested refreshes hide. */
export const PASSIVE_CANARY = "argosy-canary-passive";

const API = "argoproj.io/v1alpha1";
/**
 * A host below `.invalid` does not exist (RFC 2606). The address is for people who read the Application; nothing ever
 * connects to it.
 */
const NOWHERE = "https://argosy.invalid/canary";
/** A full commit id is taken as it is. A branch or a tag would have to be resolved in Git. */
const COMMIT = "c0".repeat(20);
/**
 * Sources that only name a `ref`: nothing is rendered from them. The controller still asks its repo-server for each,
 * which answers without Git. So controller, repo-server and redis do what they do in any comparison. There are two
 * because Argo CD releases between 3.3 and 3.5 panic where there is only one.
 */
const WITHOUT_REPOSITORY = ["first", "second"].map((ref) => ({ repoURL: NOWHERE, targetRevision: COMMIT, ref }));

/**
 * Renders the canaries of an instance and their project. The project names no account to sync as, so a sync of a
 * canary would be refused.
 */
export function renderCanaries(namespace: string, server: string, from: CanarySource): readonly EngineObject[] {
  const labels = { [LABEL_CANARY]: "true" };
  const destination = { server, namespace: CANARY_NAMESPACE };
  const project: EngineObject = {
    apiVersion: API,
    kind: "AppProject",
    metadata: { name: PROJECT, namespace, labels },
    spec: {
      description: "Canaries of Argosy: compared again and again, never synced",
      sourceRepos: [from === "no-repository" ? NOWHERE : from.repository],
      destinations: [destination],
      clusterResourceWhitelist: [],
    },
  };
  const application = (name: string): EngineObject => ({
    apiVersion: API,
    kind: "Application",
    metadata: { name, namespace, labels },
    spec: { project: PROJECT, destination, ...sourceOf(from) },
  });
  return [project, ...[...ACTIVE_CANARIES, PASSIVE_CANARY].map(application)];
}

function sourceOf(from: CanarySource): Readonly<Record<string, unknown>> {
  if (from === "no-repository") return { sources: WITHOUT_REPOSITORY };
  const { repository, revision, path } = from;
  return { source: { repoURL: repository, targetRevision: revision, path } };
}

/** What is remembered of a canary whose refresh was requested. */
export interface AskedCanary {
  readonly at: Millis;
  /** When its refresh was last requested again, because it had waited for longer than a round. */
  readonly remindedAt: Millis;
  /** How long it took until it was compared, in s. Absent: it still waits. */
  readonly tookS: number | undefined;
}

export type AskedCanaries = ReadonlyMap<string, AskedCanary>;

/** The canary to refresh with this probe. They take turns; one that still waits is requested again when its turn comes. */
export function nextCanary(asked: AskedCanaries): string {
  const at = (name: string) => asked.get(name)?.remindedAt ?? 0;
  const [first, second] = ACTIVE_CANARIES;
  return at(second) < at(first) ? second : first;
}
