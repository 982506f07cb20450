/**
 * A notification that something changed. It only saves waiting: whatever a notification starts, a sweep starts too.
 * The `id` of an application, unit or instance is its row's id; of a status and of a queue of syncs the application's; of a
 * pool its name; of a sync run its uid; of a move and of a rollout its row's id; of a verdict the instance's; of
 * a repository that has to be probed, and of a class that was assigned or that units have or are to have from now on, the workspace's;
 * of a member that comes, leaves or has other roles its own.
 */
export const CHANGE_KINDS = [
  "application",
  "unit",
  "instance",
  "status",
  "pool",
  "fleet",
  "sync-queue",
  "sync-run",
  "move",
  "rollout",
  "verdict",
  "repository",
  "class",
  "member",
] as const;
export type ChangeKind = (typeof CHANGE_KINDS)[number];
export interface Change {
  readonly kind: ChangeKind;
  readonly id: string;
}
