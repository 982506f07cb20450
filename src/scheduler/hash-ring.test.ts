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
  });

  it.each([10, 25, 50])("moves at most 1.4/(m+1) of the keys when a node joins %i others, and none between the old ones", (count) => {
    const before = preferences(buildRing(nodes(count)));
    const after = preferences(buildRing(nodes(count + 1)));
    const moved = keys.filter((_key, index) => before[index] !== after[index]).length;
    expect(moved / keys.length).toBeLessThanOrEqual(1.4 / (count + 1));
    for (const [index, node] of after.entries()) if (node !== before[index]) expect(node).toBe(`instance-${count}`);
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
