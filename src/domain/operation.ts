import type { Millis } from "./clock.ts";
import type { InstanceId, OperationId, WorkspaceId } from "./ids.ts";

export const OPERATION_STATES = ["Waiting", "In_Progress", "Completed", "Failed"] as const;
export type OperationState = (typeof OPERATION_STATES)[number];
export const OPERATION_KINDS = ["apply-application", "delete-application"] as const;
export type OperationKind = (typeof OPERATION_KINDS)[number];

/** A recorded notification that something changed: what people and REST clients can watch. Correctness never rests on it. */
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
  readonly message: string;
}
