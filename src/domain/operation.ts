import type { Millis } from "./clock.ts";
import type { InstanceId, OperationId, WorkspaceId } from "./ids.ts";

export const OPERATION_STATES = ["Waiting", "In_Progress", "Completed", "Failed"] as const;
export type OperationState = (typeof OPERATION_STATES)[number];
export const OPERATION_KINDS = ["apply-application", "delete-application"] as const;
export type OperationKind = (typeof OPERATION_KINDS)[number];

/**
 * How long an operation should take at most, in ms: a healthy fleet needs seconds, an instance that is being made minutes. Later
 * ones are overdue, which ends nothing: Argosy goes on until it is done.
 */
export const OPERATION_DUE_MS = 10 * 60_000;

/**
 * A recorded notification that something changed: what people and REST clients can watch. Correctness never rests on it.
 * `Waiting`: nothing was tried yet. `In_Progress`: it was, without an end so far. `Failed`: it was refused, which nothing but
 * a change of something will cure; when that happens it goes on. `Completed` is the only end.
 */
export interface Operation {
  readonly id: OperationId;
  readonly workspaceId: WorkspaceId;
  readonly instanceId: InstanceId | undefined;
  readonly subject: string;
  readonly kind: OperationKind;
  readonly state: OperationState;
  readonly attempts: number;
  readonly createdAt: Millis;
  readonly updatedAt: Millis;
  /** When it should have been completed. */
  readonly deadline: Millis;
  /** Why it is not completed yet, or with what it was, for people; empty where there is nothing to say. */
  readonly message: string;
}
