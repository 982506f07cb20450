import type { KubeObject } from "../../../runtime/kube/resource.ts";

type Json = Readonly<Record<string, unknown>>;

/** An Application as a controller of Argo CD reads it. */
export interface EngineApplication extends KubeObject {
  readonly spec: {
    readonly project: string;
    readonly source: Source;
    readonly destination: { readonly server: string; readonly namespace: string };
    readonly syncPolicy?: { readonly automated?: Json; readonly retry?: Retry; readonly syncOptions?: readonly string[] };
  };
  readonly operation?: EngineOperation;
  readonly status?: {
    readonly sync?: { readonly status?: string; readonly revision?: string };
    readonly operationState?: EngineOperationState;
    readonly reconciledAt?: string;
  };
}

export interface Source {
  readonly repoURL: string;
  readonly path: string;
  readonly targetRevision?: string;
}

interface Retry {
  readonly limit?: number;
  /** A retry takes the newest revision, not the one that failed. */
  readonly refresh?: boolean;
}

export interface EngineOperation {
  readonly initiatedBy?: Json;
  readonly info?: readonly Json[];
  readonly retry?: Retry;
  /** `source`, `syncOptions`: as the Application had them when the operation was set; absent: as it has them now. */
  readonly sync?: {
    readonly revision?: string;
    readonly prune?: boolean;
    readonly source?: Source;
    readonly syncOptions?: readonly string[];
  };
}

export interface EngineOperationState {
  readonly phase?: string;
  readonly operation?: EngineOperation;
  readonly startedAt?: string;
  readonly finishedAt?: string;
  readonly retryCount?: number;
  readonly message?: string;
  /** `resources`: what this attempt has applied so far. */
  readonly syncResult?: { readonly revision?: string; readonly source?: Source; readonly resources?: readonly SyncedResource[] };
}

interface SyncedResource {
  readonly version: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly status: string;
}

export interface Project extends KubeObject {
  readonly spec?: {
    readonly sourceRepos?: readonly string[];
    readonly destinationServiceAccounts?: readonly { readonly namespace: string; readonly defaultServiceAccount: string }[];
  };
}

/** Any form of the finalizer that makes the controller delete what was deployed. */
export const CASCADE = "resources-finalizer.argocd.argoproj.io";
const SKIP = "argocd.argoproj.io/skip-reconcile";
/** Annotations of a paused Application. */
export const SKIPPED = { [SKIP]: "true" };
export const REFRESH_ANNOTATION = "argocd.argoproj.io/refresh";
export const TRACKING = "argocd.argoproj.io/tracking-id";

/** `<application>:<group>/<kind>:<namespace>/<name>`; the instance is no part of it. */
export function trackingId(application: string, namespace: string, name: string): string {
  return `${application}:/ConfigMap:${namespace}/${name}`;
}

export function isPaused({ metadata }: Pick<EngineApplication, "metadata">): boolean {
  return metadata.annotations?.[SKIP] === "true";
}

export function isCascading({ metadata }: Pick<EngineApplication, "metadata">): boolean {
  return metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).some((each) => each.startsWith(CASCADE));
}

/** An operation is under way from being set until the end of its last attempt; one that waits for a retry says `Running` with `finishedAt`. */
export function isOperationUnderWay({ operation, status }: Pick<EngineApplication, "operation" | "status">): boolean {
  return operation !== undefined || status?.operationState?.phase === "Running" || status?.operationState?.phase === "Terminating";
}
