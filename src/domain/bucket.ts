import { sha256 } from "./hash.ts";
import type { ApplicationSpec } from "./workspace.ts";

/**
 * Applications of a workspace that always live together have one bucket: those of a cluster, or of a group of its namespaces. The
 * cluster is the environment's name; none is the workspace's own namespace. Keys are stable for life.
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

/** The group that a namespace belongs to, by hash: it keeps it whatever else comes and goes. */
export function groupOf(namespace: string, count: number): number {
  return Number.parseInt(sha256(namespace).slice(0, 8), 16) % count;
}

/** Keys under which an application's bucket may be known, the finest first. */
export function bucketKeys({ environment = "", namespace = "" }: ApplicationSpec["destination"]): readonly [string, string, string] {
  return [
    groupKey(environment, groupOf(namespace, MOST_GROUPS)),
    groupKey(environment, groupOf(namespace, FEW_GROUPS)),
    clusterKey(environment),
  ];
}
