import fc from "fast-check";
import { expect, it } from "vitest";
import { createFifo } from "./fifo.ts";
import { createHeap, type HeapNode } from "./heap.ts";

type Step = { readonly kind: "push"; readonly at: number } | { readonly kind: "pop" } | { readonly kind: "remove"; readonly which: number };

it("a heap hands out what a sorted list would, whatever is removed in between", () => {
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({ kind: fc.constant("push" as const), at: fc.nat(100) }),
    fc.record({ kind: fc.constant("push" as const), at: fc.nat(100) }),
    fc.record({ kind: fc.constant("pop" as const) }),
    fc.record({ kind: fc.constant("remove" as const), which: fc.nat(50) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200, size: "max" }), (steps) => {
      const heap = createHeap<number>();
      let model: HeapNode<number>[] = [];
      for (const [index, now] of steps.entries()) {
        if (now.kind === "push") {
          const node = heap.push(now.at, index);
          model.push(node);
          model.sort((a, b) => a.at - b.at || a.value - b.value);
        } else if (now.kind === "pop") {
          expect(heap.pop()).toBe(model.shift());
        } else {
          const node = model[now.which % Math.max(1, model.length)];
          if (node === undefined) continue;
          heap.remove(node);
          heap.remove(node);
          model = model.filter((other) => other !== node);
        }
        expect(heap.peek()).toBe(model[0]);
        expect(heap.size()).toBe(model.length);
      }
    }),
  );
});

it("a line hands out in the order of coming, however often it empties and fills", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(3000), fc.nat(3000)), { maxLength: 8 }), (rounds) => {
      const line = createFifo<number>();
      const model: number[] = [];
      let next = 0;
      let taken = 0;
      for (const [pushes, shifts] of rounds) {
        for (let count = 0; count < pushes; count += 1) {
          line.push(next);
          model.push(next);
          next += 1;
        }
        expect(line.peek()).toBe(model[taken]);
        for (let count = 0; count < shifts; count += 1) {
          const value = line.shift();
          if (value !== model[taken]) throw new Error(`took ${value} instead of ${model[taken]}`);
          if (value !== undefined) taken += 1;
        }
        expect(line.size()).toBe(model.length - taken);
      }
    }),
  );
});
