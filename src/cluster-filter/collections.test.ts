import { describe, expect, it } from "vitest";
import { createCollections } from "./collections.ts";

const A = "a watch";
const watchOf = (name: string) => Object(name) as object;

describe("up to where a cache has everything", () => {
  it("is where its watch is that is furthest behind", () => {
    const [one, other] = [watchOf(A), watchOf(A)];
    const collections = createCollections();
    expect(collections.cachedUpTo(3, 0)).toBe(3);
    collections.listed("pods", { generation: 2, isFirst: true, nowMs: 0 });
    expect(collections.cachedUpTo(3, 0)).toBe(0);
    collections.advanced("pods", one, { listed: 2, held: 2, nowMs: 0 });
    expect(collections.cachedUpTo(3, 0)).toBe(2);
    collections.advanced("secrets", other, { listed: 1, held: 1, nowMs: 0 });
    collections.advanced("pods", one, { listed: 2, held: 3, nowMs: 0 });
    expect(collections.cachedUpTo(3, 0)).toBe(1);
    collections.advanced("secrets", other, { listed: 1, held: 3, nowMs: 0 });
    expect(collections.cachedUpTo(3, 0)).toBe(3);
  });

  it("goes no further while a list is under way that was begun before, whatever a watch beside it says", () => {
    const [one, next] = [watchOf(A), watchOf(A)];
    const collections = createCollections();
    collections.advanced("pods", one, { listed: 1, held: 1, nowMs: 0 });
    collections.listed("pods", { generation: 1, isFirst: true, nowMs: 0 });
    collections.listed("pods", { generation: 2, isFirst: false, nowMs: 0 });
    collections.advanced("pods", one, { listed: 1, held: 2, nowMs: 0 });
    expect(collections.cachedUpTo(2, 0)).toBe(1);
    collections.ended("pods", one, 0);
    collections.advanced("pods", next, { listed: 1, held: 1, nowMs: 0 });
    expect(collections.cachedUpTo(2, 0)).toBe(1);
    collections.advanced("pods", next, { listed: 1, held: 2, nowMs: 0 });
    expect(collections.cachedUpTo(2, 0)).toBe(2);
  });

  it("does not ask for what nobody reads any more, or is not served", () => {
    const one = watchOf(A);
    const collections = createCollections();
    collections.advanced("pods", one, { listed: 1, held: 1, nowMs: 0 });
    collections.ended("pods", one, 1_000);
    collections.listed("widgets", { generation: 1, isFirst: true, nowMs: 1_000 });
    expect(collections.cachedUpTo(2, 1_000)).toBe(0);
    collections.forget("widgets");
    expect(collections.cachedUpTo(2, 60_000)).toBe(1);
    expect(collections.cachedUpTo(2, 62_000)).toBe(2);
  });
});
