import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createByNamespace } from "./by-namespace.ts";

interface Value {
  readonly namespace: string;
  readonly name: string;
  readonly age: number;
}

const byAge = (a: Value, b: Value): number => a.age - b.age;
const value = fc.record({
  ...{ namespace: fc.constantFrom("a", "b"), name: fc.constantFrom("x", "y", "z", "u", "v"), age: fc.nat(3) },
  isRemoved: fc.boolean(),
});

describe("values by namespace", () => {
  it("are the ones that were put last, in order, however they came and went", () => {
    fc.assert(
      fc.property(fc.array(value), (changes) => {
        const index = createByNamespace(byAge);
        const expected = new Map<string, Value>();
        for (const { isRemoved, ...change } of changes) {
          if (isRemoved) index.remove(change);
          else index.put(change);
          if (isRemoved) expected.delete(change.namespace + change.name);
          else expected.set(change.namespace + change.name, change);
        }
        for (const namespace of ["a", "b"]) {
          const listed = index.list(namespace);
          const wanted = [...expected.values()].filter((each) => each.namespace === namespace);
          expect(new Set(listed)).toEqual(new Set(wanted));
          expect(listed).toHaveLength(wanted.length);
          expect(listed.map(({ age }) => age)).toEqual(wanted.map(({ age }) => age).toSorted((a, b) => a - b));
        }
        expect(new Set(index.list())).toEqual(new Set(expected.values()));
        for (const each of expected.values()) expect(index.get(each)).toBe(each);
      }),
    );
  });
});
