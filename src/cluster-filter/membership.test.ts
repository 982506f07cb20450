import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createMembership } from "./membership.ts";

const joins = (...namespaces: string[]) => ({ kind: "joins", namespaces });

describe("which namespaces a client is without", () => {
  it("names those that came since it listed, and none of those that it was given", () => {
    const membership = createMembership();
    membership.change(new Set(["a"]));
    expect(membership.change(new Set(["a", "b"]))).toBe(true);
    expect(membership.change(new Set(["a", "b"]))).toBe(false);
    expect(membership.missingFor({ listed: 1, held: 1 })).toEqual(joins("b"));
    expect(membership.missingFor({ listed: 1, held: 2 })).toEqual(joins());
    expect(membership.missingFor({ listed: 2, held: 2 })).toEqual(joins());
  });

  it("makes a client list again that may still have objects of a namespace from before it left", () => {
    const membership = createMembership();
    for (const wanted of [["a"], ["a", "b"], ["a"], ["a", "b"]]) membership.change(new Set(wanted));
    expect(membership.missingFor({ listed: 2, held: 2 })).toEqual({ kind: "stale" });
    expect(membership.missingFor({ listed: 1, held: 3 })).toEqual({ kind: "stale" });
    expect(membership.missingFor({ listed: 3, held: 3 })).toEqual(joins("b"));
    expect(membership.missingFor({ listed: 1, held: 1 })).toEqual(joins("b"));
  });

  it("makes every client list again when everything is let in", () => {
    const membership = createMembership();
    membership.change(new Set(["a"]));
    membership.change("everything");
    expect(membership.has("z")).toBe(true);
    expect(membership.missingFor({ listed: 1, held: 1 })).toEqual({ kind: "stale" });
    expect(membership.missingFor({ listed: 2, held: 2 })).toEqual(joins());
    membership.change(new Set(["a"]));
    expect(membership.has("z")).toBe(false);
    membership.change(new Set(["a", "z"]));
    expect(membership.missingFor({ listed: 2, held: 2 })).toEqual({ kind: "stale" });
    expect(membership.missingFor({ listed: 3, held: 3 })).toEqual(joins("z"));
  });

  it("leaves no client without a namespace, nor with what it had of one that left: on whatever history", () => {
    const sets = fc.array(fc.uniqueArray(fc.constantFrom("a", "b", "c"), { maxLength: 3 }), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(sets, fc.array(fc.boolean()), (history, follows) => {
        const membership = createMembership();
        // A client that goes on or not after each change: what it has, and of which it did not hear the end.
        let has = new Set<string>();
        let stale = new Set<string>();
        let holding = { listed: 0, held: 0 };
        for (const [index, names] of history.entries()) {
          membership.change(new Set(names));
          for (const name of has) if (!(names as readonly string[]).includes(name)) stale.add(name);
          has = new Set([...has].filter((name) => (names as readonly string[]).includes(name)));
          if (follows[index] === false) continue;
          const generation = membership.generation();
          const missing = membership.missingFor(holding);
          if (missing.kind === "stale") {
            has = new Set(names);
            stale = new Set();
            holding = { listed: generation, held: generation };
          } else {
            for (const name of missing.namespaces) {
              expect(stale.has(name)).toBe(false);
              has.add(name);
            }
            holding = { ...holding, held: generation };
          }
          expect([...has].sort()).toEqual([...names].sort());
        }
      }),
    );
  });
});
