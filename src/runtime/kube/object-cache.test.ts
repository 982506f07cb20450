import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createObjectCache } from "./object-cache.ts";

const object = (name: string, resourceVersion: string, namespace = "n") => ({ metadata: { namespace, name, resourceVersion } });
const at = (name: string) => ({ namespace: "n", name });
const version = (each: { readonly metadata: { readonly resourceVersion?: string } }) => each.metadata.resourceVersion;

describe("createObjectCache", () => {
  it("tells what an object changed", () => {
    const cache = createObjectCache<string>("c");
    expect(cache.put(object("a", "1"), version)).toEqual({ kind: "upsert", at: at("a"), now: "1", before: undefined });
    expect(cache.put(object("a", "2"), version)).toEqual({ kind: "upsert", at: at("a"), now: "2", before: "1" });
    expect(cache.put(object("a", "2"), version)).toBeUndefined();
    expect(cache.remove(at("a"))).toEqual({ kind: "delete", at: at("a"), before: "2" });
    expect(cache.remove(at("a"))).toBeUndefined();
    expect(cache.size()).toBe(0);
  });

  it("does not project an object again that has not changed, even one that is left out", () => {
    const cache = createObjectCache<string>("c");
    let projections = 0;
    const leaveOut = () => void projections++ as undefined;
    cache.put(object("a", "1"), leaveOut);
    cache.put(object("a", "1"), leaveOut);
    expect(projections).toBe(1);
    expect([cache.size(), cache.get(at("a")), cache.list()]).toEqual([0, undefined, []]);
  });

  it("reports as deleted what the projection leaves out from now on", () => {
    const cache = createObjectCache<string>("c");
    cache.put(object("a", "1"), version);
    expect(cache.put(object("a", "2"), () => undefined)).toEqual({ kind: "delete", at: at("a"), before: "1" });
    expect(cache.put(object("a", "3"), () => undefined)).toBeUndefined();
    expect(cache.remove(at("a"))).toBeUndefined();
  });

  it("leaves everything as it was when the projection throws", () => {
    const cache = createObjectCache<string>("c");
    cache.put(object("a", "1"), version);
    const fail = () => {
      throw new Error("projection");
    };
    expect(() => cache.put(object("a", "2"), fail)).toThrow("projection");
    expect(cache.get(at("a"))).toBe("1");
  });

  it("lists in the order of keys, by namespace if asked, also lists", () => {
    const cache = createObjectCache<readonly string[]>("c");
    for (const [namespace, name] of [
      ["m", "b"],
      ["n", "a"],
      ["m", "a"],
    ] as const)
      cache.put(object(name, "1", namespace), () => [namespace, name]);
    expect(cache.list()).toEqual([
      ["m", "a"],
      ["m", "b"],
      ["n", "a"],
    ]);
    cache.remove({ namespace: "m", name: "a" });
    expect(cache.list("m")).toEqual([["m", "b"]]);
    expect(cache.list("x")).toEqual([]);
  });

  it("lists what put, left out and removed objects come to, in the order of keys, whatever the namespaces are called", () => {
    const name = fc.constantFrom("", "a", "a-b", "a.b", "ab", "b");
    const step = fc.record({ namespace: name, name, fate: fc.constantFrom("put", "left out", "removed") });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const cache = createObjectCache<string>("c");
        const expected = new Map<string, { readonly namespace: string; readonly value: string }>();
        for (const [index, each] of steps.entries()) {
          const place = { namespace: each.namespace, name: each.name };
          const [key, value] = [cache.key(place), `${index}`];
          expected.delete(key);
          if (each.fate === "removed") cache.remove(place);
          else cache.put(object(each.name, value, each.namespace), () => (each.fate === "put" ? value : undefined));
          if (each.fate === "put") expected.set(key, { namespace: each.namespace, value });
          // In between, so that what is kept of an order has to be given up again.
          const sorted = [...expected].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
          const valuesIn = (namespace: string) => sorted.filter((one) => one.namespace === namespace).map((one) => one.value);
          expect(cache.list()).toEqual(sorted.map((one) => one.value));
          expect(cache.list(each.namespace)).toEqual(valuesIn(each.namespace));
          expect(cache.size()).toBe(expected.size);
        }
      }),
    );
  });

  it("has keys that name the cluster", () => {
    const cache = createObjectCache<string>("c");
    cache.put(object("a", "1"), version);
    expect(cache.key(at("a"))).toBe("c|n|a");
    expect(cache.namesExcept(new Set(["d|n|a"]))).toEqual([at("a")]);
    expect(cache.namesExcept(new Set(["c|n|a"]))).toEqual([]);
  });
});
