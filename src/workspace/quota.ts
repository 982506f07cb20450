import type { ObservedDeployment } from "../domain/user-resource.ts";

export interface Quota {
  /** All resources of the namespace; {@link byAge} makes this cheap. */
  readonly siblings: readonly ObservedDeployment[];
  readonly limit: number;
  /** Whether a resource was let in before. */
  readonly isAdmitted: (uid: string) => boolean;
}

type Age = Pick<ObservedDeployment, "uid" | "createdAt">;

/**
 * Whether a resource is within its workspace's quota. One that was let in stays in, so that neither a new one nor a lower
 * quota puts it out; what is left goes to the oldest (by creation, then uid). Reads no more siblings than it has to: of those
 * in the order of {@link byAge}, as many as the limit for all but those that are within it.
 */
export function isWithinQuota(resource: Age, { siblings, limit, isAdmitted }: Quota): boolean {
  if (siblings.length <= limit || isAdmitted(resource.uid)) return true;
  let ahead = 0;
  for (const sibling of siblings) {
    if ((!sibling.isDeleting && isOlder(sibling, resource)) || isAdmitted(sibling.uid)) ahead += 1;
    if (ahead >= limit) return false;
  }
  return true;
}

/** What is said of a resource that is not even read, because its namespace has so many. */
export function oneTooManyText(kind: string): string {
  return `This namespace has more ${kind} than are read: delete some, and then change this one`;
}

/** An order of siblings: those that stay before those that are being deleted, the oldest first. */
export function byAge(a: Age & Pick<ObservedDeployment, "isDeleting">, b: Age & Pick<ObservedDeployment, "isDeleting">): number {
  if (a.isDeleting !== b.isDeleting) return a.isDeleting ? 1 : -1;
  return isOlder(a, b) ? -1 : isOlder(b, a) ? 1 : 0;
}

function isOlder(a: Age, b: Age): boolean {
  return a.createdAt < b.createdAt || (a.createdAt === b.createdAt && a.uid < b.uid);
}
