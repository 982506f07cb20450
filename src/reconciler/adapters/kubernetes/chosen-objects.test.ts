import fc from "fast-check";
import { expect, it } from "vitest";
import type { ObservedObject } from "../../../shard/managed-object.ts";
import { parseObject } from "../../../shard/parse-object.ts";
import { createChosenObjects } from "./chosen-objects.ts";

const even = ({ resourceVersion }: ObservedObject): boolean => Number(resourceVersion) % 2 === 0;

it("lists those of the objects that stand for which the condition holds, in the order of their places", () => {
  const step = fc.record({
    namespace: fc.constantFrom("a", "a-b"),
    name: fc.constantFrom("x", "y", "z"),
    version: fc.nat(3),
    isEnd: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const chosen = createChosenObjects(even);
      const standing = new Map<string, ObservedObject>();
      for (const { namespace, name, version, isEnd } of steps) {
        const at = { namespace, name };
        const key = `${namespace}|${name}`;
        const before = standing.get(key);
        const now = parseObject("project", { metadata: { ...at, uid: "u", resourceVersion: String(version) } });
        if (isEnd && before !== undefined) chosen.seen({ kind: "delete", at, before });
        if (!isEnd && now !== undefined) chosen.seen({ kind: "upsert", at, now, before });
        if (isEnd) standing.delete(key);
        else if (now !== undefined) standing.set(key, now);
        const sorted = [...standing].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
        expect(chosen.list()).toEqual(sorted.filter(even));
      }
    }),
  );
});
