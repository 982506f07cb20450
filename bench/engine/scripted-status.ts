import { type Millis, parseRfc3339, rfc3339 } from "../../src/domain/clock.ts";
import { sha256 } from "../../src/domain/hash.ts";
import type { KubeObject } from "../../src/runtime/kube/resource.ts";

/** What the scripted engine reads of an Application. */
export interface SeenApplication {
  readonly namespace: string;
  readonly name: string;
  readonly isDeleting: boolean;
  readonly finalizers: readonly string[];
  readonly isRefreshAsked: boolean;
  readonly source: Source;
  readonly destination: Readonly<Record<string, string>>;
  readonly comparedTo: Source | undefined;
  readonly reconciledAt: Millis | undefined;
}

interface Source {
  readonly repoURL: string;
  readonly path?: string;
  readonly targetRevision?: string;
}

interface RawApplication extends KubeObject {
  readonly spec: Sources & { readonly destination: Readonly<Record<string, string>> };
  readonly status?: { readonly reconciledAt?: string; readonly sync?: { readonly comparedTo?: Sources } };
}

/** Canaries have several sources, all other Applications here one. */
interface Sources {
  readonly source?: Source;
  readonly sources?: readonly Source[];
}

/** What is not the same in all measurements. */
export interface EngineScript {
  /** Objects; applications take turns. */
  readonly resources: readonly number[];
  /** Syncs that are remembered. Argo CD remembers `revisionHistoryLimit` of them. */
  readonly history: number;
  /** `engine.reconciliationSeconds` of the pools. */
  readonly reconciliationSeconds: number;
}

const SHORTEST: EngineScript = { resources: [1], history: 1, reconciliationSeconds: 120 };

/** The next step: a merge patch, or nothing for so many ms. */
export type EngineStep =
  | { readonly kind: "patch"; readonly patch: object }
  | { readonly kind: "wait"; readonly ms: number }
  | { readonly kind: "rest" };

export const REFRESH_ANNOTATION = "argocd.argoproj.io/refresh";
const FINALIZER = /^resources-finalizer\.argocd\.argoproj\.io(\/|$)/;
/** Half of the jitter that Argo CD adds to the time between two comparisons, in s. */
const HALF_JITTER_S = 30;

/** How often an application is compared, in ms: the middle of what Argo CD does. */
export const compareEveryMs = ({ reconciliationSeconds }: Pick<EngineScript, "reconciliationSeconds"> = SHORTEST): number =>
  1_000 * (reconciliationSeconds + HALF_JITTER_S);
/** A text in the form of a Git revision. Its last digits count up where a measurement has to tell revisions apart. */
const FIRST_REVISION = revisionOf(0);

export function revisionOf(count: number): string {
  return count.toString(10).padStart(40, "0");
}

export function seeApplication(object: KubeObject): SeenApplication {
  const { metadata, spec, status } = object as RawApplication;
  return {
    namespace: metadata.namespace ?? "",
    name: metadata.name,
    isDeleting: metadata.deletionTimestamp !== undefined,
    finalizers: metadata.finalizers ?? [],
    isRefreshAsked: metadata.annotations?.[REFRESH_ANNOTATION] !== undefined,
    source: sourceOf(spec) ?? NO_SOURCE,
    destination: spec.destination,
    comparedTo: sourceOf(status?.sync?.comparedTo ?? {}),
    reconciledAt: parseRfc3339(status?.reconciledAt ?? ""),
  };
}

const NO_SOURCE: Source = { repoURL: "" };

/** What stands for what is deployed: the only source, or the first one. */
function sourceOf({ source, sources }: Sources): Source | undefined {
  return source ?? sources?.[0];
}

/**
 * The next thing Argo CD would do about an Application whose Git repository never changes: remove its finalizer from
 * one that is being deleted, report it synced when its source is new, answer a request to refresh, else compare it
 * from time to time. The time of the first comparison follows from the name, so that the comparisons of many
 * Applications are spread; so does how many of `script.resources` objects its status lists.
 */
export function nextEngineStep(seen: SeenApplication, now: Millis, script: EngineScript = SHORTEST): EngineStep {
  const others = seen.finalizers.filter((finalizer) => !FINALIZER.test(finalizer));
  if (seen.isDeleting) return others.length < seen.finalizers.length ? patch({ metadata: { finalizers: others } }) : { kind: "rest" };
  if (seen.reconciledAt === undefined || !isSame(seen.source, seen.comparedTo)) return patch({ status: syncedStatus(seen, now, script) });
  const observation = { status: { reconciledAt: rfc3339(now) } };
  if (seen.isRefreshAsked) return patch({ metadata: { annotations: { [REFRESH_ANNOTATION]: null } }, ...observation });
  const dueInMs = nextObservation(seen, seen.reconciledAt, compareEveryMs(script)) - now;
  return dueInMs <= 0 ? patch(observation) : { kind: "wait", ms: dueInMs };
}

/** The next moment in this application's own rhythm that is at least half a period after the last comparison. */
function nextObservation({ namespace, name }: SeenApplication, last: Millis, everyMs: number): number {
  const phase = numberOf({ namespace, name }) % everyMs;
  const earliest = last + everyMs / 2 - phase;
  return Math.ceil(earliest / everyMs) * everyMs + phase;
}

/** A number that follows from the name, spread evenly over 32 bits. */
function numberOf({ namespace, name }: Pick<SeenApplication, "namespace" | "name">): number {
  return Number.parseInt(sha256(`${namespace}/${name}`).slice(0, 8), 16);
}

function syncedStatus(seen: SeenApplication, now: Millis, script: EngineScript): object {
  const { source, destination } = seen;
  const at = rfc3339(now);
  const count = script.resources[numberOf(seen) % script.resources.length] ?? 1;
  const resource = { version: "v1", kind: "ConfigMap", namespace: destination["namespace"] ?? "", name: "settings" };
  const resources = Array.from({ length: count }, (_, index) => ({ ...resource, name: index === 0 ? "settings" : `settings-${index}` }));
  return {
    ...{ reconciledAt: at, sourceType: "Directory", summary: {} },
    sync: { status: "Synced", revision: FIRST_REVISION, comparedTo: { source, destination } },
    health: { status: "Healthy", lastTransitionTime: at },
    resources: resources.map((one) => ({ ...one, status: "Synced" })),
    history: Array.from({ length: script.history }, (_, id) => ({
      ...{ id, source, deployedAt: at, deployStartedAt: at, initiatedBy: { automated: true }, revision: FIRST_REVISION },
    })),
    operationState: {
      operation: { initiatedBy: { automated: true }, retry: { limit: -1 }, sync: { revision: FIRST_REVISION, prune: true } },
      ...{ phase: "Succeeded", message: "successfully synced (all tasks run)", startedAt: at, finishedAt: at },
      syncResult: {
        ...{ revision: FIRST_REVISION, source },
        resources: resources.map((one) => ({ ...one, group: "", status: "Synced", message: "configured" })),
      },
    },
  };
}

function patch(body: object): EngineStep {
  return { kind: "patch", patch: body };
}

function isSame(a: Source, b: Source | undefined): boolean {
  return b !== undefined && a.repoURL === b.repoURL && a.path === b.path && a.targetRevision === b.targetRevision;
}
