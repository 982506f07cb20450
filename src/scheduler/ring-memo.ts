import { buildRing, type HashRing, type RingNode, ringVersion, spread } from "./hash-ring.ts";

/** What `placeUnit` and the planner get their ring from: `buildRing`, or something that answers like it. */
export type RingSource = (nodes: readonly RingNode[]) => HashRing;

/** Of this many keys the letters are remembered, some 20 MB; then all are forgotten, for that is simpler than ages. */
const KEYS_KEPT = 200_000;

/**
 * Gives, for each class, a ring source that builds a ring only when the nodes or weights of its class have changed. Building
 * one takes 7 to 17 ms for 50 instances, longer than the rest of a placement; asking for its version takes microseconds.
 * One ring is kept for a class, for nobody asks for an earlier one again. Hashed keys outlive the rings: a plan that fills a
 * new instance asks the new ring about every unit, and hashing them takes longer than planning.
 */
export function createRingMemo(): (unitClass: string) => RingSource {
  const rings = new Map<string, HashRing>();
  const letters = new Map<string, string>();
  const lettersOf = (key: string): string => {
    const known = letters.get(key);
    if (known !== undefined) return known;
    if (letters.size >= KEYS_KEPT) letters.clear();
    const fresh = spread(key);
    letters.set(key, fresh);
    return fresh;
  };
  return (unitClass) => (nodes) => {
    const kept = rings.get(unitClass);
    if (kept?.version === ringVersion(nodes)) return kept;
    const ring = buildRing(nodes, lettersOf);
    rings.set(unitClass, ring);
    return ring;
  };
}
