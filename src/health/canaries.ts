import type { Millis } from "../domain/clock.ts";
import type { EngineObject } from "../domain/engine.ts";
import { LABEL_CANARY } from "../domain/names.ts";
import type { CanarySource } from "../domain/probed.ts";

const PROJECT = "argosy-canaries";
/** Asked for in turn: one alone that a controller overlooks would look like a controller that has stopped. */
export const ACTIVE_CANARIES = ["argosy-canary-1", "argosy-canary-2"] as const;
/** Never asked for: what forced looks hide shows here. */
export const PASSIVE_CANARY = "argosy-canary-passive";
/** Nothing is ever deployed there: canaries are compared, and never synced. */
const NAMESPACE = "argosy-canary";

const API = "argoproj.io/v1alpha1";
/** Nobody can have a host below `.invalid` (RFC 2606). It is a name for people who read the Application, and is never asked for. */
const NOWHERE = "https://argosy.invalid/canary";
/** A full commit id is taken as it is: a branch or a tag would have to be looked up in Git. */
const COMMIT = "c0".repeat(20);
/**
 * Sources that other sources may refer to, and that nothing is rendered from. The controller asks its repo-server for each of them, which answers
 * without Git: that is a comparison like any other for the controller, repo-server and redis. There are two because releases of Argo CD
 * between 3.3 and 3.5 end with a panic where there is one.
 */
const WITHOUT_REPOSITORY = ["first", "second"].map((ref) => ({ repoURL: NOWHERE, targetRevision: COMMIT, ref }));

/** The project and the Applications by which an instance's health is told. They name no account, so that a sync of theirs would be refused. */
export function renderCanaries(namespace: string, server: string, from: CanarySource): readonly EngineObject[] {
  const labels = { [LABEL_CANARY]: "true" };
  const destination = { server, namespace: NAMESPACE };
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

/** What is remembered of a canary that was asked for. */
export interface AskedCanary {
  readonly at: Millis;
  /** When it was reminded last, where it waits for longer than a round. */
  readonly remindedAt: Millis;
  /** How long it took until it was looked at, in s; absent: it still waits. */
  readonly tookS: number | undefined;
}

export type AskedCanaries = ReadonlyMap<string, AskedCanary>;

/** The canary to ask for at this look: each in its turn, one that waits still when it comes to it again. */
export function nextCanary(asked: AskedCanaries): string {
  const at = (name: string) => asked.get(name)?.remindedAt ?? 0;
  const [first, second] = ACTIVE_CANARIES;
  return at(second) < at(first) ? second : first;
}
