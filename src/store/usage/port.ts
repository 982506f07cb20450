import type { Millis } from "../../domain/clock.ts";
import type { InstanceId, WorkspaceId } from "../../domain/ids.ts";
import type { Usage, UsageMark, User } from "../../domain/usage.ts";

export interface WorkspaceUsage {
  readonly workspaceId: WorkspaceId;
  readonly namespace: string;
  readonly usage: Usage;
}

/** What an instance took since it was last accounted for, and for whom. All shares together are the whole. */
export interface UsageSample {
  readonly instanceId: InstanceId;
  /** `until` of the mark that this goes on from; `undefined`: there was none. */
  readonly after: Millis | undefined;
  readonly mark: UsageMark;
  /** Each workspace once. Shares of nothing are not recorded. */
  readonly workspaces: readonly WorkspaceUsage[];
  readonly base: Usage;
  readonly unattributed: Usage;
}

/** What was taken on one instance in a time. */
export interface UsedOnInstance {
  readonly of: User;
  /** Of the workspace; empty for shares that are no workspace's. */
  readonly namespace: string;
  /** `undefined` for shares that are no workspace's. */
  readonly workspaceId: WorkspaceId | undefined;
  /** Labels of the namespace that are recorded, as they were last seen. */
  readonly labels: Readonly<Record<string, string>>;
  readonly instanceId: InstanceId;
  readonly usage: Usage;
}

/** What instances took, by hours. Written by the scheduler, from instances' metrics; it stays when a workspace or an instance has gone. */
export interface UsageStore {
  readMark(instanceId: InstanceId, signal: AbortSignal): Promise<UsageMark | undefined>;
  /**
   * Adds the shares to those of the hour in which the sample ends, and goes on to its mark. Returns whether it did: nothing is added where the
   * instance has another mark by now than the one this goes on from, as after a sample of another member, or this one sent twice.
   */
  record(sample: UsageSample, signal: AbortSignal): Promise<boolean>;
  /**
   * The sums of the hours that begin at `since` or later and before `until`, for each workspace and instance, sorted by namespace, workspace and
   * instance.
   */
  list(span: { readonly since: Millis; readonly until: Millis }, signal: AbortSignal): Promise<readonly UsedOnInstance[]>;
}
