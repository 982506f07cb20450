import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ownerOf, shareChange } from "./partition.ts";

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

  it("says of exactly those keys that they were gained that were not a member's before and are now", () => {
    const alive = fc.subarray(["a", "b", "c", "d", "e", "f"]);
    const change = fc.record({ before: alive, now: alive, keys: fc.array(fc.string(), { maxLength: 30 }) });
    fc.assert(
      fc.property(change, ({ before, now, keys }) => {
        const { gained, mayGain } = shareChange("a", { before, now });
        for (const key of keys) {
          const isGained = ownerOf(key, now) === "a" && ownerOf(key, before) !== "a";
          expect(gained(key)).toBe(isGained);
          if (isGained) expect(mayGain).toBe(true);
        }
      }),
    );
  });

  it("says at once that nothing was gained where members only came, or where the member itself has gone", () => {
    const membersIn = (names: string): readonly string[] => names.split("");
    const mayGain = (before: string, now: string): boolean => shareChange("a", { before: membersIn(before), now: membersIn(now) }).mayGain;
    expect([mayGain("ab", "abc"), mayGain("ab", "ab"), mayGain("ab", "b"), mayGain("", "b")]).toEqual([false, false, false, false]);
    expect([mayGain("", "a"), mayGain("b", "ab"), mayGain("ab", "a"), mayGain("ab", "ac")]).toEqual([true, true, true, true]);
  });

  it("gives nobody a key when nobody is alive", () => {
    expect(ownerOf("key", [])).toBeUndefined();
  });
});
