import { bucketKeys, groupedBy } from "../../domain/bucket.ts";
import type { Millis } from "../../domain/clock.ts";
import { addLoad, type LoadVector, loadVector, sumInTurns, ZERO_LOAD } from "../../domain/load.ts";
import type { Resumable } from "../../domain/resumable.ts";
import type { PlanningFacts } from "../plan/assemble.ts";
import { DEFAULT_POLICY, WHOLE } from "../policy.ts";
import { meanShare } from "../utilisation.ts";
import { type Bucket, bucketsOf, DEFAULT_SPLIT_POLICY, type SplitApplication, type SplitPolicy } from "./buckets.ts";
import { dealBuckets } from "./deal-buckets.ts";
import { nextParts } from "./next-parts.ts";

/** A workspace and its parts: what splitting is decided by. */
export interface Splitting {
  readonly parts: number;
  readonly openPart: number;
  readonly roomySince: Millis | undefined;
  /** The part of each bucket that has one, by key. */
  readonly deal: Readonly<Record<string, number>>;
  readonly units: readonly { readonly part: number; readonly isPlaced: boolean; readonly load: LoadVector }[];
  readonly applications: readonly (Pick<SplitApplication, "hasClusterScoped"> & {
    readonly part: number;
    readonly name: string;
    readonly environment: string;
    readonly namespace: string;
    readonly resources: number | undefined;
  })[];
}

export interface SplitCapacity {
  readonly now: Millis;
  /** What the smallest instance of the class should carry. */
  readonly target: LoadVector;
  /** How many instances take units: parts live on different ones. */
  readonly candidates: number;
}

/** How a workspace should be split from now on. */
export interface SplitPlan extends Pick<Splitting, "parts" | "openPart" | "roomySince" | "deal"> {
  /** Buckets that would live elsewhere if what is deployed could be moved. */
  readonly held: readonly string[];
}

/** A part takes new buckets until it carries this much of the mean part, ppm. */
const OPEN = 1_050_000;

/**
 * Decides into how many parts a workspace is split and which part each of its buckets has; `undefined`: it stays one unit.
 *
 * Buckets are dealt as `dealBuckets` says, but only where nothing is deployed: a bucket of a part that was placed stays there, and
 * none is sent into a part that was placed. New buckets go to the lightest part until that is even with the others. So a workspace
 * that waits for an instance is split at once, one that is served grows into its new parts, and parts that were never placed are given up.
 */
export function planSplit(
  splitting: Splitting,
  capacity: SplitCapacity,
  policy: SplitPolicy = DEFAULT_SPLIT_POLICY,
): SplitPlan | undefined {
  const { parts: was, roomySince, units } = splitting;
  const load = units.reduce((sum, unit) => addLoad(sum, unit.load), ZERO_LOAD);
  const next = nextParts({ parts: was, roomySince }, { now: capacity.now, load, target: capacity.target }, policy);
  const buckets = bucketsOf(applicationsOf(splitting, load), capacity.target);
  const placed = new Set(units.filter(({ isPlaced }) => isPlaced).map(({ part }) => part));
  const parts = Math.max(1, Math.min(next.parts, capacity.candidates, buckets.length), ...[...placed].map((part) => part + 1));
  if (parts === 1 && was === 1) return undefined;
  const current = currentPartsOf(splitting, buckets);
  const wanted = dealBuckets(buckets, parts, new Map([...current].filter(([, part]) => placed.has(part))));
  const held = buckets.filter(({ key }) => {
    const [from, to] = [current.get(key) as number, wanted.get(key) as number];
    return from !== to && (placed.has(from) || placed.has(to));
  });
  const staying = new Set(held.map(({ key }) => key).filter((key) => (current.get(key) as number) < parts));
  const deal = Object.fromEntries(buckets.map(({ key }) => [key, (staying.has(key) ? current : wanted).get(key) as number]));
  return {
    ...{ parts, deal, held: held.map(({ key }) => key) },
    openPart: openPartOf(splitting, buckets, { parts, deal }),
    roomySince: parts !== was ? undefined : next.parts < was ? roomySince : next.roomySince,
  };
}

/** Each application with its own counts, and an equal share of what is measured for all of them together. */
export function applicationsOf({ applications }: Pick<Splitting, "applications">, load: LoadVector): readonly SplitApplication[] {
  const share = (amount: number): number => Math.ceil(amount / Math.max(1, applications.length));
  const mean = loadVector((dimension) => share(load[dimension]));
  return applications.map(({ environment: cluster, name, namespace, hasClusterScoped, resources }) => ({
    ...{ cluster, member: groupedBy({ environment: cluster, namespace }, name), hasClusterScoped },
    load: { ...mean, applications: 1_000, clusterEntries: 0, cachedResources: resources ?? mean.cachedResources },
  }));
}

/** Where each bucket is: where it was dealt to, or else where most of its applications are. */
export function currentPartsOf(
  { deal, applications }: Pick<Splitting, "deal" | "applications">,
  buckets: readonly Bucket[],
): ReadonlyMap<string, number> {
  const counts = new Map<string, Map<number, number>>();
  const known = new Set(buckets.map(({ key }) => key));
  for (const { environment, namespace, name, part } of applications) {
    const key = bucketKeys({ environment, namespace }, name).find((each) => known.has(each));
    const each = counts.get(key ?? "") ?? new Map<number, number>();
    counts.set(key ?? "", each.set(part, (each.get(part) ?? 0) + 1));
  }
  const mostOf = (key: string): number => [...(counts.get(key) ?? [])].sort(([a, x], [b, y]) => y - x || a - b)[0]?.[0] ?? 0;
  return new Map(buckets.map(({ key }) => [key, deal[key] ?? mostOf(key)]));
}

/** The part that is open now while it is even with the others, else the lightest. */
function openPartOf({ openPart }: Splitting, buckets: readonly Bucket[], { parts, deal }: Pick<SplitPlan, "parts" | "deal">): number {
  const weights = Array.from({ length: parts }, () => 0);
  for (const { key, load } of buckets) weights[deal[key] as number] = (weights[deal[key] as number] as number) + load.applications;
  const mean = weights.reduce((a, b) => a + b, 0) / parts;
  const isEven = (weights[openPart] ?? Number.POSITIVE_INFINITY) * WHOLE <= mean * OPEN;
  return isEven ? openPart : weights.indexOf(Math.min(...weights));
}

/** Whether a plan changes anything that is recorded. */
export function differsFromRecorded(plan: SplitPlan, { parts, openPart, roomySince, deal }: Splitting): boolean {
  const keys = Object.keys(plan.deal);
  const isSameDeal = keys.length === Object.keys(deal).length && keys.every((key) => plan.deal[key] === deal[key]);
  return !(plan.parts === parts && plan.openPart === openPart && plan.roomySince === roomySince && isSameDeal);
}

/**
 * What a class offers to parts of a workspace. The smallest ACTIVE instance should carry the mean of all, or 60 % if they carry less: a
 * nearly empty fleet is no reason to split a workspace. `undefined`: no instance takes units.
 */
export function* splitCapacityInTurns(
  facts: Pick<PlanningFacts, "instances" | "units">,
  now: SplitCapacity["now"],
): Resumable<SplitCapacity | undefined> {
  const active = facts.instances.filter(({ state }) => state === "ACTIVE");
  if (active.length === 0) return undefined;
  const mean = meanShare(
    [yield* sumInTurns(facts.units, ({ unit }) => unit.load)],
    active.map(({ capacity }) => capacity),
  );
  const share = Math.min(DEFAULT_POLICY.hardLimit, Math.max(DEFAULT_POLICY.activity, mean));
  const target = loadVector((dimension) => Math.floor((Math.min(...active.map(({ capacity }) => capacity[dimension])) * share) / WHOLE));
  return { now, target, candidates: active.length };
}

/** A unit with more than this in any dimension is larger than a unit may be. */
export function largestUnit({ target }: SplitCapacity): LoadVector {
  return loadVector((dimension) =>
    target[dimension] > 0 ? Math.floor((target[dimension] * DEFAULT_SPLIT_POLICY.largestUnit) / WHOLE) : Number.MAX_SAFE_INTEGER,
  );
}
