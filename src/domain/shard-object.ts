import type { InstanceId } from "./ids.ts";

export const SHARD_KINDS = ["application", "project", "cluster-entry", "account", "owner-binding"] as const;
export type ShardKind = (typeof SHARD_KINDS)[number];

/** One acknowledgement: `instanceId` holds `subject` in the state of revision `appliedRevision`. */
export interface ShardObject {
  readonly instanceId: InstanceId;
  readonly kind: ShardKind;
  /** Id of the application, unit or environment the object was made for. */
  readonly subject: string;
  readonly appliedRevision: number;
  readonly epoch: number;
  readonly uid: string;
  readonly hash: string;
}
