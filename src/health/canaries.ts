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

/** The project and the Applications by which an instance's health is told. They name no account, so that a sync of theirs would be refused. */
export function renderCanaries(namespace: string, server: string, source: CanarySource): readonly EngineObject[] {
  const { repository, revision, path } = source;
  const labels = { [LABEL_CANARY]: "true" };
  const destination = { server, namespace: NAMESPACE };
  const project: EngineObject = {
    ...{ apiVersion: API, kind: "AppProject", metadata: { name: PROJECT, namespace, labels } },
    spec: {
      description: "Canaries of Argosy: compared again and again, never synced",
      ...{ sourceRepos: [repository], destinations: [destination], clusterResourceWhitelist: [] },
    },
  };
  const application = (name: string): EngineObject => ({
    ...{ apiVersion: API, kind: "Application", metadata: { name, namespace, labels } },
    spec: { project: PROJECT, source: { repoURL: repository, targetRevision: revision, path }, destination },
  });
  return [project, ...[...ACTIVE_CANARIES, PASSIVE_CANARY].map(application)];
}

/** What is remembered of a canary that was asked for. */
export interface Asked {
  readonly at: Millis;
  /** When it was reminded last, where it waits for longer than a round. */
  readonly remindedAt: Millis;
  /** How long it took until it was looked at, in s; absent: it still waits. */
  readonly tookS: number | undefined;
}

export type AskedCanaries = ReadonlyMap<string, Asked>;

/** The canary to ask for at this look: each in its turn, one that waits still when it comes to it again. */
export function nextCanary(asked: AskedCanaries): string {
  const at = (name: string) => asked.get(name)?.remindedAt ?? 0;
  const [first, second] = ACTIVE_CANARIES;
  return at(second) < at(first) ? second : first;
}
