import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ownerOf } from "./partition.ts";

const members = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 8 });

describe("dealing keys to members", () => {
  it("gives every key to exactly one live member, whatever order they are listed in", () => {
    fc.assert(
      fc.property(members, fc.string(), (live, key) => {
        const owner = ownerOf(key, live);
        expect(live).toContain(owner);
        expect(ownerOf(key, [...live].reverse())).toBe(owner);
      }),
    );
  });

  it("takes keys only from the member that left", () => {
    fc.assert(
      fc.property(members, fc.array(fc.string(), { maxLength: 30 }), (live, keys) => {
        const [gone, ...rest] = live;
        for (const key of keys) {
          const before = ownerOf(key, live);
          if (before !== gone) expect(ownerOf(key, rest)).toBe(before);
        }
      }),
    );
  });

  it("gives nobody a key when nobody is alive", () => {
    expect(ownerOf("key", [])).toBeUndefined();
  });
});
