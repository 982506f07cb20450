import ConsistentHash from "consistent-hash";
import { contentHash, sha256 } from "../domain/hash.ts";

export interface RingNode {
  readonly id: string;
  /** Share of the keys relative to the other nodes; at least 1. */
  readonly weight: number;
}

/** A ring of nodes: proposes, for each key, an order of nodes that changes as little as possible when nodes come and go. */
export interface HashRing {
  /** Content hash of the nodes and weights: equal rings propose alike. */
  readonly version: string;
  /** The first `count` different nodes for a key, most preferred first; fewer when there are fewer. */
  candidates(key: string, count: number): readonly string[];
}

/** Prime below 2^29, the largest range the package's 24-bit key hash spreads over without gaps that matter. */
const RANGE = 536_870_909;
const POINTS_PER_WEIGHT = 100;
const KEY_NIBBLES = 12;
const FIRST_LETTER = "@".charCodeAt(0);

/**
 * Builds a ring. The package is used for its walk only, because four of its defaults are unfit: its points are random (two
 * processes disagree on nearly every key), its own key hash is weak, `remove` followed by `add` throws, and colliding points
 * depend on the order of insertion. So points are ours (SHA-256, prefix-stable: more weight only adds points), keys are
 * hashed before the package sees them, nodes are added in order of id, and a ring is never changed but built anew.
 * Measured in the project's research: 50 → 51 nodes moves 1.8 % of the keys (ideal 1.96 %), none between old nodes.
 */
export function buildRing(nodes: readonly RingNode[]): HashRing {
  const sorted = [...nodes].sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
  const ring = new ConsistentHash({ range: RANGE });
  const taken = new Set<number>();
  for (const node of sorted) ring.add(node.id, undefined, pointsOf(node, taken));
  return {
    version: contentHash(sorted.map(({ id, weight }) => [id, weight])).slice(0, 16),
    candidates: (key, count) => (sorted.length === 0 ? [] : (ring.get(spread(key), Math.min(count, sorted.length)) ?? [])),
  };
}

function pointsOf({ id, weight }: RingNode, taken: Set<number>): readonly number[] {
  const wanted = Math.max(1, Math.round(POINTS_PER_WEIGHT * weight));
  const points: number[] = [];
  for (let index = 0; points.length < wanted; index += 1) {
    const point = Number.parseInt(sha256(`${id}#${index}`).slice(0, 8), 16) % RANGE;
    if (taken.has(point)) continue;
    taken.add(point);
    points.push(point);
  }
  return points;
}

/** A key as letters that carry four uniform bits each in their low half, which is what the package's hash mixes well. */
function spread(key: string): string {
  const nibbles = [...sha256(key).slice(0, KEY_NIBBLES)];
  return nibbles.map((nibble) => String.fromCharCode(FIRST_LETTER + Number.parseInt(nibble, 16))).join("");
}
