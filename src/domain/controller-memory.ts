import type { Entries } from "./instance.ts";
import type { LoadAmounts } from "./load.ts";

/**
 * What an application controller keeps in memory, in MiB. Measured on Argo CD 3.5.7 with the garbage collector at its default: an empty
 * controller; a cluster entry, of which 36 MiB are the cluster's OpenAPI model; a small cached object, of whose 20 KiB the garbage
 * collector can give back all but 5; an application.
 */
export const CONTROLLER_COST_MIB = { empty: 97, entry: 39.5, resource: 0.02, leastResource: 0.005, application: 0.06 } as const;

/** One API that is watched takes as much memory (0.15 MiB) as so many cached objects. */
export const OBJECTS_PER_API = 8;

/** One workspace may take one in so many of an instance's cluster entries: neighbours always find some. */
const WORKSPACE_SHARE = 4;

/** No workspace has more environments than this by default: each is probed every few minutes. */
export const MOST_ENVIRONMENTS = 50;

/** The share of a controller's memory, one in so many, that the objects of one environment may take by default, and at most. */
const OBJECTS_SHARE = { byDefault: 10, atMost: 2 };
/** Fewer than any cluster that is in use has, and more than any environment needs. */
const OBJECTS = { fewest: 1_000, most: 100_000 };

/** What a controller needs that is as full as its capacity says, part by part, in MiB. */
export interface ControllerNeed {
  readonly empty: number;
  readonly entries: number;
  readonly resources: number;
  readonly applications: number;
  /** Sum of the parts, rounded up. */
  readonly total: number;
}

/** The least memory that a controller needs which holds what its capacity, in the units of documents, allows: with less the kernel ends it, whatever is cached. */
export function controllerNeed(capacity: Pick<LoadAmounts, "applications" | "clusterEntries" | "cachedResources">): ControllerNeed {
  const { empty, entry, leastResource, application } = CONTROLLER_COST_MIB;
  const entries = capacity.clusterEntries * entry;
  const resources = capacity.cachedResources * leastResource;
  const applications = capacity.applications * application;
  return { empty, entries, resources, applications, total: Math.ceil(empty + entries + resources + applications) };
}

/**
 * How many environments one workspace may have at most on an instance with so many cluster entries. Where each workspace has an entry, its own is
 * one of its share.
 */
export function mostEnvironments({
  clusterEntries,
  entries,
}: {
  readonly clusterEntries: number;
  readonly entries?: Entries | undefined;
}): number {
  return Math.max(1, Math.floor(clusterEntries / WORKSPACE_SHARE) - (entries === "per-workspace" ? 1 : 0));
}

/** How many it may have where nothing is declared, and so many at most. */
export function usualEnvironments(most: number): number {
  return Math.min(MOST_ENVIRONMENTS, most);
}

/** How many objects an instance may cache of one environment at most, by the memory of the smallest controller in MiB. */
export function mostEnvironmentObjects(memoryMiB: number): number {
  return objectsIn(memoryMiB / OBJECTS_SHARE.atMost);
}

/** How many it may cache where nothing is declared: 20,480 of a controller with 4 GiB, which is more than most clusters have. */
export function usualEnvironmentObjects(memoryMiB: number): number {
  return objectsIn(memoryMiB / OBJECTS_SHARE.byDefault);
}

function objectsIn(memoryMiB: number): number {
  return Math.max(OBJECTS.fewest, Math.min(OBJECTS.most, Math.floor(memoryMiB / CONTROLLER_COST_MIB.resource)));
}
