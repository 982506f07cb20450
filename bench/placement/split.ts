import { sha256 } from "../../src/domain/hash.ts";
import { type LoadVector, ZERO_LOAD } from "../../src/domain/load.ts";
import { createSeededRng } from "../../src/runtime/rng.ts";
import { type Bucket, bucketsOf, type SplitApplication } from "../../src/scheduler/split/buckets.ts";
import { type Deal, dealBuckets } from "../../src/scheduler/split/deal-buckets.ts";

export interface SplitOutcome {
  readonly method: string;
  readonly clusters: number;
  readonly parts: number;
  /** Heaviest part over the mean. */
  readonly imbalance: number;
  /** Copies of resources that instances cache, over the resources there are. */
  readonly cachedOverUnique: number;
  /** The share of load that changes its part when one more part is added, starting from the same parts. */
  readonly movedByOneMore: number;
}

const APPLICATIONS = 2_000;
const RESOURCES = 400_000;

interface Tenant {
  readonly applications: readonly SplitApplication[];
  readonly target: LoadVector;
}

/** 2,000 applications with 400,000 resources, whose clusters are Zipf-distributed in size, each with 10 to 60 namespaces. */
function tenant(clusters: number, parts: number, seed: number): Tenant {
  const rng = createSeededRng(`split ${clusters} ${seed}`);
  const weights = Array.from({ length: clusters }, (_, rank) => 1 / (rank + 1));
  const sum = weights.reduce((a, b) => a + b, 0);
  const applications = weights.flatMap((weight, rank) => {
    const count = Math.max(1, Math.round((APPLICATIONS * weight) / sum));
    const namespaces = 10 + Math.floor(rng.next() * 50);
    return Array.from({ length: count }, (): SplitApplication => {
      const resources = Math.round((RESOURCES / APPLICATIONS) * (0.5 + rng.next()));
      return {
        cluster: `c${String(rank).padStart(2, "0")}`,
        member: `n${Math.floor(rng.next() * namespaces)}`,
        hasClusterScoped: rng.next() < 0.02,
        load: { ...ZERO_LOAD, applications: 1_000, cachedResources: resources },
      };
    });
  });
  // A unit may have a quarter of the target, so this many parts are just enough.
  const total = applications.reduce((all, { load }) => all + load.cachedResources, 0);
  return { applications, target: { ...ZERO_LOAD, cachedResources: Math.ceil((4 * total) / parts) } };
}

type Method = (buckets: readonly Bucket[], parts: number, known: Deal) => Deal;

const METHODS: Readonly<Record<string, Method>> = {
  "recorded deal": dealBuckets,
  "rendezvous hashing, 64 buckets": (buckets, parts) =>
    new Map(buckets.map(({ key }) => [key, rendezvous(`bucket ${Number.parseInt(sha256(key).slice(0, 8), 16) % 64}`, parts)])),
};

function rendezvous(key: string, parts: number): number {
  return Array.from({ length: parts }, (_, part) => ({ part, score: sha256(`${key}|${part}`) })).reduce((a, b) =>
    b.score > a.score ? b : a,
  ).part;
}

export function runSplit(clusters: number, parts: number, seed: number): readonly SplitOutcome[] {
  const { applications, target } = tenant(clusters, parts, seed);
  const buckets = bucketsOf(applications, target);
  return Object.entries(METHODS).map(([method, deal]) => {
    const before = deal(buckets, parts, new Map());
    const after = deal(buckets, parts + 1, before);
    const total = buckets.reduce((sum, { load }) => sum + load.cachedResources, 0);
    const moved = buckets.filter(({ key }) => before.get(key) !== after.get(key));
    return {
      method,
      clusters,
      parts,
      imbalance: imbalance(buckets, before, parts),
      cachedOverUnique: cachedOverUnique(buckets, before),
      movedByOneMore: moved.reduce((sum, { load }) => sum + load.cachedResources, 0) / total,
    };
  });
}

function imbalance(buckets: readonly Bucket[], deal: Deal, parts: number): number {
  const loads = Array.from({ length: parts }, (_, part) =>
    buckets.filter(({ key }) => deal.get(key) === part).reduce((sum, { load }) => sum + load.cachedResources, 0),
  );
  return Math.max(...loads) / (loads.reduce((a, b) => a + b, 0) / parts);
}

/** An instance that holds any part of a cluster caches all of it. */
function cachedOverUnique(buckets: readonly Bucket[], deal: Deal): number {
  let [cached, unique] = [0, 0];
  for (const held of Map.groupBy(buckets, ({ cluster }) => cluster).values()) {
    const resources = held.reduce((sum, { load }) => sum + load.cachedResources, 0);
    unique += resources;
    cached += resources * new Set(held.map(({ key }) => deal.get(key))).size;
  }
  return cached / unique;
}
