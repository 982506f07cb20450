import type { ObservedDeployment } from "../domain/user-resource.ts";

/**
 * Whether a resource is within its workspace's quota: the oldest `limit` are (by creation, then uid), so that a new one
 * never puts an older one out. Resources that are being deleted do not count.
 */
export function isWithinQuota(
  resource: Pick<ObservedDeployment, "uid" | "createdAt">,
  siblings: readonly ObservedDeployment[],
  limit: number,
): boolean {
  if (siblings.length <= limit) return true;
  const older = siblings.filter((sibling) => !sibling.isDeleting && isOlder(sibling, resource));
  return older.length < limit;
}

type Age = Pick<ObservedDeployment, "uid" | "createdAt">;

function isOlder(a: Age, b: Age): boolean {
  return a.createdAt < b.createdAt || (a.createdAt === b.createdAt && a.uid < b.uid);
}
