import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { buildRing, type RingNode } from "./hash-ring.ts";

const nodes = (count: number, weight = 1): readonly RingNode[] =>
  Array.from({ length: count }, (_, index) => ({ id: `instance-${index}`, weight }));
const keys = Array.from({ length: 4_000 }, (_, index) => `workspace-${index}`);
const preferences = (ring: ReturnType<typeof buildRing>) => keys.map((key) => ring.candidates(key, 1)[0]);

describe("the ring", () => {
  it("proposes the same whatever order the nodes are given in", () => {
    fc.assert(
      fc.property(fc.shuffledSubarray([...nodes(12)], { minLength: 12 }), fc.string(), (shuffled, key) => {
        expect(buildRing(shuffled).candidates(key, 8)).toEqual(buildRing(nodes(12)).candidates(key, 8));
        expect(buildRing(shuffled).version).toBe(buildRing(nodes(12)).version);
      }),
      { numRuns: 30 },
    );
  });

  it("gives different nodes, as many as asked for and there are", () => {
    const candidates = buildRing(nodes(5)).candidates("key", 8);
    expect(new Set(candidates).size).toBe(5);
    expect(buildRing(nodes(5)).candidates("key", 3)).toEqual(candidates.slice(0, 3));
    expect(buildRing([]).candidates("key", 3)).toEqual([]);
    expect(buildRing(nodes(5)).preferred("key")).toBe(candidates[0]);
    expect(buildRing([]).preferred("key")).toBeUndefined();
  });

  it("proposes the same in every process and release", () => {
    const ring = buildRing([
      { id: "a", weight: 1 },
      { id: "b", weight: 2 },
      { id: "c", weight: 4 },
    ]);
    expect(ring.version).toBe("8f7fbc7bdffe2782");
    expect(["anna", "ben", "cleo", "dora", "emil"].map((key) => ring.candidates(key, 3).join(""))).toEqual([
      "bca",
      "cab",
      "bca",
      "bca",
      "acb",
    ]);
  });

  it("has another version after a node came or changed its weight", () => {
    const versions = [nodes(3), nodes(4), nodes(4, 2)].map((each) => buildRing(each).version);
    expect(new Set(versions).size).toBe(3);
  });

  it.each([10, 25, 50])(
    "moves at most 1.1/(m+1) of the keys on average when a node joins %i others, and none between the old ones",
    (count) => {
      const seeds = Array.from({ length: 8 }, (_, seed) => `seed ${seed}, `);
      const shares = seeds.map((seed) => {
        const all = nodes(count + 1).map(({ id, weight }) => ({ id: seed + id, weight }));
        const [before, after] = [preferences(buildRing(all.slice(0, count))), preferences(buildRing(all))];
        const moved = [...after.entries()].filter(([index, node]) => node !== before[index]);
        expect(moved.filter(([, node]) => node !== all.at(-1)?.id)).toEqual([]);
        return moved.length / keys.length;
      });
      const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length;
      expect(mean).toBeLessThanOrEqual(1.1 / (count + 1));
      expect(mean).toBeGreaterThan(0.8 / (count + 1));
    },
  );

  it("moves no key between old nodes when a node joins that shares a point of the ring with one of them", () => {
    const old = ["instance-75", ...Array.from({ length: 10 }, (_, index) => `other-${index}`)].map((id) => ({ id, weight: 1 }));
    const before = preferences(buildRing(old));
    const after = preferences(buildRing([...old, { id: "instance-215", weight: 1 }]));
    for (const [index, node] of after.entries()) if (node !== before[index]) expect(node).toBe("instance-215");
  });

  it("gives a node of twice the weight about twice the keys, and more weight only adds to it", () => {
    const equal = preferences(buildRing(nodes(10)));
    const heavier = preferences(buildRing(nodes(10).map((node) => (node.id === "instance-3" ? { ...node, weight: 2 } : node))));
    const share = (all: readonly (string | undefined)[]) => all.filter((node) => node === "instance-3").length / keys.length;
    expect(share(heavier) / share(equal)).toBeGreaterThan(1.5);
    expect(share(heavier) / share(equal)).toBeLessThan(2.5);
    for (const [index, node] of heavier.entries()) if (node !== equal[index]) expect(node).toBe("instance-3");
  });

  it("spreads keys with long common beginnings", () => {
    const counts = new Map<string | undefined, number>();
    for (const node of preferences(buildRing(nodes(50)))) counts.set(node, (counts.get(node) ?? 0) + 1);
    expect(counts.size).toBe(50);
    expect(Math.max(...counts.values()) / (keys.length / 50)).toBeLessThan(2);
  });
});
