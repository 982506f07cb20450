import { describe, expect, it } from "vitest";
import { complete } from "../domain/resumable.ts";
import { buildRing, type RingNode } from "./hash-ring.ts";
import { createRingMemo } from "./ring-memo.ts";

const NODES: readonly RingNode[] = ["a", "b", "c"].map((id) => ({ id, weight: 1 }));
const HEAVIER: readonly RingNode[] = NODES.map((node) => (node.id === "b" ? { ...node, weight: 2 } : node));

describe("remembering rings", () => {
  it("does not build a second ring of the same nodes, whatever their order", () => {
    const ringOf = createRingMemo()("eu/shared/public");
    expect(complete(ringOf([...NODES].reverse()))).toBe(complete(ringOf(NODES)));
  });

  it("answers as a ring that is built anew, also after a node came, left or changed its weight", () => {
    const ringOf = createRingMemo()("eu/shared/public");
    for (const nodes of [NODES, NODES.slice(1), HEAVIER, [], NODES]) {
      const [kept, fresh] = [complete(ringOf(nodes)), buildRing(nodes)];
      expect(kept.version).toBe(fresh.version);
      for (const key of ["anna", "ben", "cleo", "dora", "anna"]) {
        expect(kept.candidates(key, 3)).toEqual(fresh.candidates(key, 3));
        expect(kept.preferred(key)).toBe(fresh.candidates(key, 1)[0]);
        expect(kept.preferred(key)).toBe(fresh.preferred(key));
      }
    }
  });

  it("keeps the ring of each class apart", () => {
    const rings = createRingMemo();
    const first = complete(rings("eu/shared/public")(NODES));
    const other = complete(rings("us/shared/public")(HEAVIER));
    expect(other.version).toBe(buildRing(HEAVIER).version);
    expect(complete(rings("eu/shared/public")(NODES))).toBe(first);
    expect(complete(rings("us/shared/public")(HEAVIER))).toBe(other);
  });
});
