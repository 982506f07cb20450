import type { Millis } from "./clock.ts";
import type { ApplicationId, EnvironmentId, InstanceId } from "./ids.ts";

export const SYNC_STATES = ["Synced", "OutOfSync", "Unknown"] as const;
export type SyncState = (typeof SYNC_STATES)[number];
export const HEALTH_STATES = ["Healthy", "Progressing", "Degraded", "Suspended", "Missing", "Unknown"] as const;
export type HealthState = (typeof HEALTH_STATES)[number];

export interface EngineCondition {
  readonly type: string;
  readonly message: string;
}

export interface ResourceStatus {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly status: string;
  /** Absent where a kind has none. What is healthy has no message: it says nothing to act on, and changes all the time. */
  readonly health?: { readonly status: string; readonly message?: string };
}

/** What an instance says of one application, reduced to what users see and what health needs. */
export interface EngineStatus {
  readonly sync: { readonly status: SyncState; readonly revision: string };
  readonly health: { readonly status: HealthState; readonly message: string };
  readonly conditions: readonly EngineCondition[];
  /** At most {@link RESOURCE_LIMIT} entries, what is not healthy before all else; `resourceCount` says how many there are. */
  readonly resources: readonly ResourceStatus[];
  readonly resourceCount: number;
  readonly comparedTo: {
    readonly repoUrl: string;
    readonly path: string;
    readonly targetRevision: string;
    readonly namespace: string;
    /** Absent for the API cluster. */
    readonly environmentId?: EnvironmentId;
  };
  /** Bounded mirror of Argo CD's operationState; absent before the first sync. */
  readonly operationState: Readonly<Record<string, unknown>> | undefined;
}

export const RESOURCE_LIMIT = 500;

/** One status as recorded: `hash` covers `status` only, so that a mere refresh (`reconciledAt`) notifies nobody. */
export interface RecordedStatus {
  readonly applicationId: ApplicationId;
  readonly instanceId: InstanceId;
  readonly epoch: number;
  readonly status: EngineStatus;
  readonly reconciledAt: Millis | undefined;
  readonly hash: string;
  /** Of the Application when it said so: `reconciledAt` has whole seconds, and an instance says several things in one. Not read back. */
  readonly version?: number | undefined;
}

/** That an instance has compared an application again and says what it said before: `hash` is that of the status. */
export type RecordedRefresh = Omit<RecordedStatus, "status">;
