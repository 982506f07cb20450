import { sha256 } from "./hash.ts";
import type { ApplicationSpec } from "./workspace.ts";

/**
 * Applications of a workspace that always live together have one bucket: those of a cluster, or of a group of its namespaces. The
 * cluster is the environment's name; none is the workspace's own namespace, whose groups are made of applications by their names. Keys are stable for
 * life.
 */
export function clusterKey(cluster: string): string {
  return `cluster ${cluster}`;
}

export function groupKey(cluster: string, group: number): string {
  return `cluster ${cluster} group ${group}`;
}

/**
 * A cluster that is cut has sixteen groups of namespaces, or as many as there may be where sixteen are too few. Both are powers of
 * two: when a cluster outgrows the sixteen, each of them keeps its key and a part of its namespaces, and only the others are new.
 */
export const FEW_GROUPS = 16;
export const MOST_GROUPS = 64;

/** The group that a namespace, or an application of the own namespace, belongs to, by hash: it keeps it whatever else comes and goes. */
export function groupOf(name: string, count: number): number {
  return Number.parseInt(sha256(name).slice(0, 8), 16) % count;
}

/** By which name an application is dealt to a group of its cluster: where it deploys to, or its own in the workspace's own namespace. */
export function groupedBy({ environment = "", namespace = "" }: ApplicationSpec["destination"], name: string): string {
  return environment === "" ? name : namespace;
}

/** Keys under which an application's bucket may be known, the finest first. `name` is the application's. */
export function bucketKeys(destination: ApplicationSpec["destination"], name: string): readonly [string, string, string] {
  const { environment = "" } = destination;
  const member = groupedBy(destination, name);
  return [groupKey(environment, groupOf(member, MOST_GROUPS)), groupKey(environment, groupOf(member, FEW_GROUPS)), clusterKey(environment)];
}

/** The part to which a deal, of keys of buckets to numbers of parts, gives an application; undefined: the deal has no bucket of it. */
export function partOfDeal(
  deal: Readonly<Record<string, number>>,
  { destination, name }: { readonly destination: ApplicationSpec["destination"]; readonly name: string },
): number | undefined {
  const key = bucketKeys(destination, name).find((each) => deal[each] !== undefined);
  return key === undefined ? undefined : deal[key];
}
