import type { ObservedDeployment } from "../domain/user-resource.ts";

export interface Quota {
  /** All resources of the namespace. */
  readonly siblings: readonly ObservedDeployment[];
  readonly limit: number;
  /** Whether a resource was let in before. */
  readonly isAdmitted: (uid: string) => boolean;
}

type Age = Pick<ObservedDeployment, "uid" | "createdAt">;

/**
 * Whether a resource is within its workspace's quota. One that was let in stays in, so that neither a new one nor a lower
 * quota puts it out; what is left goes to the oldest (by creation, then uid).
 */
export function isWithinQuota(resource: Age, { siblings, limit, isAdmitted }: Quota): boolean {
  if (siblings.length <= limit || isAdmitted(resource.uid)) return true;
  const ahead = siblings.filter((sibling) => isAdmitted(sibling.uid) || (!sibling.isDeleting && isOlder(sibling, resource)));
  return ahead.length < limit;
}

function isOlder(a: Age, b: Age): boolean {
  return a.createdAt < b.createdAt || (a.createdAt === b.createdAt && a.uid < b.uid);
}
