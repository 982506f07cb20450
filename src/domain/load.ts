/**
 * Load and capacity are vectors of whole numbers, so that sums do not depend on their order. `applications` counts
 * thousandths of an application, `milliCpu` thousandths of a core, `gitPerMinute` thousandths of a Git request a minute.
 */
export const LOAD_DIMENSIONS = ["applications", "clusterEntries", "cachedResources", "milliCpu", "gitPerMinute"] as const;
export type LoadDimension = (typeof LOAD_DIMENSIONS)[number];
export type LoadVector = Readonly<Record<LoadDimension, number>>;

/** The vector whose dimensions a function gives. */
export function loadVector(of: (dimension: LoadDimension) => number): LoadVector {
  return {
    applications: of("applications"),
    clusterEntries: of("clusterEntries"),
    cachedResources: of("cachedResources"),
    milliCpu: of("milliCpu"),
    gitPerMinute: of("gitPerMinute"),
  };
}

export const ZERO_LOAD: LoadVector = loadVector(() => 0);

export function addLoad(a: LoadVector, b: LoadVector): LoadVector {
  return loadVector((dimension) => a[dimension] + b[dimension]);
}
