import type { Resumable } from "../domain/resumable.ts";
import { buildRingInTurns, type HashRing, pointsOf, type RingNode, ringVersion, spread } from "./hash-ring.ts";

/** What `placeUnit` and the planner get their ring from: `buildRingInTurns`, or something that answers like it. */
export type RingSource = (nodes: readonly RingNode[]) => Resumable<HashRing>;

/** For how many keys letters and preferences are remembered, some 30 MB. Beyond that all are forgotten: simpler than tracking their age. */
const KEYS_KEPT = 200_000;

/**
 * Gives, for each class, a ring source that builds a ring only when the nodes or weights of its class have changed. Building
 * one takes 7 to 17 ms for 50 instances and 150 ms for 500, longer than the rest of a placement; asking for its version takes less than one. The points of nodes that stay are kept, which
halves that.
 * One ring is kept for each class, because an earlier one is never needed again, and with it the node that it prefers for each key:
 * while an instance is filled, every plan asks that for every unit. Hashed keys outlive the rings, because hashing takes longest.
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
  const points = new Map<string, ReadonlyMap<string, readonly number[]>>();
  return (unitClass) =>
    function* ringOf(nodes) {
      const kept = rings.get(unitClass);
      if (kept?.version === ringVersion(nodes)) return kept;
      const before = points.get(unitClass);
      const now = new Map<string, readonly number[]>();
      const pointsFor = (node: RingNode): readonly number[] => {
        const key = `${node.id} ${node.weight}`;
        const found = before?.get(key) ?? pointsOf(node);
        now.set(key, found);
        return found;
      };
      const ring = rememberPreferred(yield* buildRingInTurns(nodes, { lettersOf, pointsOf: pointsFor }));
      points.set(unitClass, now);
      rings.set(unitClass, ring);
      return ring;
    };
}

function rememberPreferred(ring: HashRing): HashRing {
  const known = new Map<string, string | undefined>();
  const preferred = (key: string): string | undefined => {
    const before = known.get(key);
    if (before !== undefined) return before;
    if (known.size >= KEYS_KEPT) known.clear();
    const fresh = ring.preferred(key);
    known.set(key, fresh);
    return fresh;
  };
  return { ...ring, preferred };
}
