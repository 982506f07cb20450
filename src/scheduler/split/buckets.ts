import { clusterKey, FEW_GROUPS, groupKey, groupOf, MOST_GROUPS } from "../../domain/bucket.ts";
import { addLoad, LOAD_DIMENSIONS, type LoadVector, ZERO_LOAD } from "../../domain/load.ts";
import { WHOLE } from "../policy.ts";

/** What one application of a workspace costs, and where it deploys. */
export interface SplitApplication {
  readonly cluster: string;
  /** By which its group is found where its cluster is cut (`groupedBy` of domain/bucket.ts). */
  readonly member: string;
  /** It deploys objects that belong to no namespace: two parts that did that would both watch and own them. */
  readonly hasClusterScoped: boolean;
  readonly load: LoadVector;
}

/** Applications that always live together: those of one managed cluster, or of a group of its namespaces. */
export interface Bucket {
  /** Stable for life: what is remembered about a bucket is remembered under it. */
  readonly key: string;
  readonly cluster: string;
  readonly load: LoadVector;
}

export interface SplitPolicy {
  /** A unit beyond this share of what the smallest eligible instance should carry is split; ppm. */
  readonly largestUnit: number;
  /** Groups of namespaces of a cluster that is itself too large: at least so many for each part it would fill. */
  readonly groupsPerPart: number;
  /** Parts are merged only if the remaining ones would have at least this share to spare, ppm. */
  readonly mergeSlack: number;
  /** How long that must have been so, in ms. */
  readonly mergeAfterMs: number;
}

export const DEFAULT_SPLIT_POLICY: SplitPolicy = {
  largestUnit: 250_000,
  groupsPerPart: 4,
  mergeSlack: 400_000,
  mergeAfterMs: 7 * 24 * 60 * 60_000,
};

/**
 * Cuts a workspace into buckets. The cut follows what Argo CD caches: one copy of a cluster for each instance that deploys to
 * it. So clusters stay whole, except those that are larger than a unit may be: their namespaces are dealt to groups, and the applications of
 * the own namespace are. What deploys cluster-scoped objects stays in the first group of its cluster.
 *
 * `target` is what the smallest eligible instance should carry.
 */
export function bucketsOf(applications: readonly SplitApplication[], target: LoadVector, policy = DEFAULT_SPLIT_POLICY): readonly Bucket[] {
  const buckets = [...byKey(applications, ({ cluster }) => cluster)].flatMap(([cluster, held]) => {
    const parts = partsFor(loadOf(held), target, policy);
    if (parts === 1) return [{ key: clusterKey(cluster), cluster, load: loadOf(held) }];
    return [...groupsOf(held, parts * policy.groupsPerPart)].map(([group, of]) => ({
      key: groupKey(cluster, Number(group)),
      cluster,
      load: loadOf(of),
    }));
  });
  return buckets.sort((a, b) => (a.key < b.key ? -1 : 1));
}

/** How many units a load has to be split into, so that none is larger than a unit may be in any dimension. */
export function partsFor(load: LoadVector, target: LoadVector, { largestUnit }: SplitPolicy): number {
  const most = LOAD_DIMENSIONS.filter((dimension) => target[dimension] > 0);
  const shares = most.map((dimension) => Math.ceil((load[dimension] * WHOLE) / (target[dimension] * largestUnit)));
  return Math.max(1, ...shares);
}

function groupsOf(held: readonly SplitApplication[], wanted: number): ReadonlyMap<string, readonly SplitApplication[]> {
  const count = wanted <= FEW_GROUPS ? FEW_GROUPS : MOST_GROUPS;
  return byKey(held, ({ member, hasClusterScoped }) => (hasClusterScoped ? "0" : String(groupOf(member, count))));
}

function loadOf(applications: readonly SplitApplication[]): LoadVector {
  return applications.reduce((sum, { load }) => addLoad(sum, load), ZERO_LOAD);
}

function byKey<T>(items: readonly T[], key: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(key(item));
    if (group === undefined) groups.set(key(item), [item]);
    else group.push(item);
  }
  return new Map([...groups].sort(([a], [b]) => (a < b ? -1 : 1)));
}
