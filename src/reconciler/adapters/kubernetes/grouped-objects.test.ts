import fc from "fast-check";
import { expect, it } from "vitest";
import type { ObservedObject } from "../../../shard/managed-object.ts";
import { parseObject } from "../../../shard/parse-object.ts";
import { createGroupedObjects } from "./grouped-objects.ts";

/** Objects without a version that can be divided by four are in no group. */
const groupOf = ({ resourceVersion }: ObservedObject): string | undefined => {
  const rest = Number(resourceVersion) % 4;
  return rest === 0 ? undefined : `group ${rest}`;
};

it("lists the objects of each group that stand, whatever group they were in before", () => {
  const step = fc.record({
    namespace: fc.constantFrom("a", "a-b"),
    name: fc.constantFrom("x", "y", "z"),
    version: fc.nat(7),
    isEnd: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const grouped = createGroupedObjects(groupOf);
      const standing = new Map<string, ObservedObject>();
      for (const { namespace, name, version, isEnd } of steps) {
        const at = { namespace, name };
        const key = `${namespace}|${name}`;
        const before = standing.get(key);
        const now = parseObject("project", { metadata: { ...at, uid: "u", resourceVersion: String(version) } });
        if (isEnd && before !== undefined) grouped.seen({ kind: "delete", at, before });
        if (!isEnd && now !== undefined) grouped.seen({ kind: "upsert", at, now, before });
        if (isEnd) standing.delete(key);
        else if (now !== undefined) standing.set(key, now);
        const sorted = [...standing].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
        for (const group of ["group 1", "group 2", "group 3"])
          expect(grouped.list(group)).toEqual(sorted.filter((object) => groupOf(object) === group));
      }
    }),
  );
});
