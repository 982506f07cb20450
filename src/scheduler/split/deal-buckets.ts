import { sha256 } from "../../domain/hash.ts";
import { addLoad, type LoadVector, ZERO_LOAD } from "../../domain/load.ts";
import { WHOLE } from "../policy.ts";
import { dominantShare } from "../utilisation.ts";
import type { Bucket } from "./buckets.ts";

/** The part (sub-unit) that holds each bucket, by bucket key. */
export type Deal = ReadonlyMap<string, number>;

/** A part is even while it carries at most this multiple of the mean, and a new part is full at this one; ppm. */
const EVEN = 1_050_000;
const FULL = 950_000;

/**
 * Deals buckets to parts. As everywhere, the hash proposes and the recorded deal decides: a bucket that has a part keeps it. A new
 * bucket, or one whose part is given up, goes to the part that rendezvous hashing prefers among those that stay even with
 * it, else to the lightest. Larger buckets go first. A new part is filled almost to the mean from the heaviest, as a new instance is.
 *
 * Rendezvous hashing alone leaves parts of a few dozen buckets 1.3 to 2 times as heavy as the mean (`bench/placement`).
 */
export function dealBuckets(buckets: readonly Bucket[], parts: number, known: Deal = new Map()): Deal {
  const total = buckets.reduce((sum, { load }) => addLoad(sum, load), ZERO_LOAD);
  const sized = buckets.map((bucket) => ({ bucket, size: sizeOf(bucket.load, total) }));
  sized.sort((a, b) => b.size - a.size || (a.bucket.key < b.bucket.key ? -1 : 1));
  const mean = Math.ceil(sized.reduce((sum, { size }) => sum + size, 0) / parts);
  const deal = new Map<string, number>();
  const weights = Array.from({ length: parts }, () => 0);
  const put = ({ bucket, size }: Sized, part: number): void => {
    const before = deal.get(bucket.key);
    if (before !== undefined) weights[before] = (weights[before] as number) - size;
    deal.set(bucket.key, part);
    weights[part] = (weights[part] as number) + size;
  };
  const kept = sized.filter(({ bucket }) => (known.get(bucket.key) ?? parts) < parts);
  for (const each of kept) put(each, known.get(each.bucket.key) as number);
  const old = new Set(kept.map(({ bucket }) => known.get(bucket.key)));
  for (const each of sized) if (!deal.has(each.bucket.key)) put(each, partFor(each, weights, (mean * EVEN) / WHOLE));
  if (old.size > 0) for (const part of weights.keys()) if (!old.has(part)) fill({ sized, deal, weights, put }, part, mean);
  return deal;
}

interface Sized {
  readonly bucket: Bucket;
  /** Share of the workspace in the dimension it weighs most in, ppm. */
  readonly size: number;
}

interface Dealing {
  readonly sized: readonly Sized[];
  readonly deal: Deal;
  readonly weights: readonly number[];
  put(each: Sized, part: number): void;
}

function sizeOf(load: LoadVector, total: LoadVector): number {
  return dominantShare(load, total);
}

function partFor({ bucket, size }: Sized, weights: readonly number[], even: number): number {
  const parts = [...weights.keys()];
  const preferred = parts
    .filter((part) => (weights[part] as number) + size <= even)
    .map((part) => ({ part, score: sha256(`${bucket.key}|${part}`) }))
    .sort((a, b) => (a.score > b.score ? -1 : 1))[0]?.part;
  return preferred ?? lightestOf(parts, weights);
}

function lightestOf(parts: readonly number[], weights: readonly number[]): number {
  return parts.reduce((a, b) => ((weights[b] as number) < (weights[a] as number) ? b : a), 0);
}

/** Takes from the heaviest part the largest bucket that neither overfills the new part nor takes too much from the giver, again and again. */
function fill({ sized, deal, weights, put }: Dealing, part: number, mean: number): void {
  const goal = (mean * FULL) / WHOLE;
  while ((weights[part] as number) < goal) {
    const missing = (mean * EVEN) / WHOLE - (weights[part] as number);
    const givers = [...weights.keys()]
      .filter((giver) => giver !== part)
      .sort((a, b) => (weights[b] as number) - (weights[a] as number) || a - b);
    const gift = givers.flatMap(
      (giver) => sized.find(({ bucket, size }) => deal.get(bucket.key) === giver && mayGive(giver, size)) ?? [],
    )[0];
    if (gift === undefined) return;
    put(gift, part);
    function mayGive(giver: number, size: number): boolean {
      return size > 0 && size <= missing && (weights[giver] as number) - size >= goal;
    }
  }
}
