/**
 * Load and capacity are vectors of whole numbers, so that sums do not depend on their order. `applications` counts
 * thousandths of an application, `milliCpu` thousandths of a core, `gitPerMinute` thousandths of a Git request a minute.
 */
export const LOAD_DIMENSIONS = ["applications", "clusterEntries", "cachedResources", "milliCpu", "gitPerMinute"] as const;
export type LoadDimension = (typeof LOAD_DIMENSIONS)[number];
export type LoadVector = Readonly<Record<LoadDimension, number>>;

export const ZERO_LOAD: LoadVector = { applications: 0, clusterEntries: 0, cachedResources: 0, milliCpu: 0, gitPerMinute: 0 };

export function addLoad(a: LoadVector, b: LoadVector): LoadVector {
  return {
    applications: a.applications + b.applications,
    clusterEntries: a.clusterEntries + b.clusterEntries,
    cachedResources: a.cachedResources + b.cachedResources,
    milliCpu: a.milliCpu + b.milliCpu,
    gitPerMinute: a.gitPerMinute + b.gitPerMinute,
  };
}
