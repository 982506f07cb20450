import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createListSplitter } from "./split-list.ts";
import { readString } from "./string-in-json.ts";

/** What becomes of a list that arrives in pieces of these sizes, when items of namespace `out` are left out. */
function filtered(text: string, sizes: readonly number[]): { readonly text: string; readonly isWhole: boolean } {
  const splitter = createListSplitter({
    item: (json) => (readString(json, ["metadata", "namespace"]) === "out" ? undefined : json),
    metadata: (json) => Buffer.from(JSON.stringify({ ...(JSON.parse(json.toString("utf8")) as object), changed: true })),
  });
  const all = Buffer.from(text, "utf8");
  const parts: Buffer[] = [];
  for (let at = 0, turn = 0; at < all.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? all.length;
    parts.push(...splitter.push(all.subarray(at, at + size)));
    at += size;
  }
  return { text: Buffer.concat(parts).toString("utf8"), isWhole: splitter.isWhole() };
}

const item = (namespace: string) =>
  fc.dictionary(fc.string(), fc.jsonValue()).map((more) => ({ ...more, metadata: { items: [namespace], namespace }, data: more }));
const list = fc.record({
  kind: fc.constant("ConfigMapList"),
  more: fc.jsonValue(),
  metadata: fc.constant({ resourceVersion: "7", text: 'a "quoted" { text \\' }),
  items: fc.array(fc.oneof(item("in"), item("out")), { maxLength: 6 }),
});

describe("splitting a list while it streams", () => {
  it("leaves out items, and changes nothing else, however the list is ordered and cut into pieces", () => {
    fc.assert(
      fc.property(
        list,
        fc.boolean(),
        fc.boolean(),
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
        (whole, isSorted, isWide, sizes) => {
          const { kind, more, metadata, items } = whole;
          const ordered = isSorted ? { apiVersion: "v1", items, kind, metadata, more } : { kind, more, metadata, items };
          const found = filtered(JSON.stringify(ordered, undefined, isWide ? 1 : undefined), sizes);
          const expected = {
            ...ordered,
            metadata: { ...metadata, changed: true },
            items: items.filter((one) => one.metadata.namespace === "in"),
          };
          expect(JSON.parse(found.text)).toEqual(JSON.parse(JSON.stringify(expected)));
          expect(found.isWhole).toBe(true);
        },
      ),
    );
  });

  it("holds no more than one item", () => {
    const held: number[] = [];
    const splitter = createListSplitter({ item: () => undefined, metadata: (json) => json });
    const one = JSON.stringify({ metadata: { namespace: "out" }, data: "x".repeat(1000) });
    for (const text of ['{"items":[', ...Array.from({ length: 100 }, (_, index) => (index === 0 ? one : `,${one}`)), "]}"])
      held.push(splitter.push(Buffer.from(text)).reduce((sum, part) => sum + part.length, 0));
    expect(held.reduce((sum, size) => sum + size, 0)).toBe('{"items":[]}'.length);
  });

  it.each(['{"items":[{"a":1}', '{"items":[]', '{"kind":"x"'])("tells that %s was broken off", (text) => {
    expect(filtered(text, [4]).isWhole).toBe(false);
  });

  it.each(['{"items":null}', '{"items":[],"kind":"List"}', "{}", '{"kind":"a","n":1}'])("hands on %s as it is", (text) => {
    expect(filtered(text, [3])).toEqual({ text, isWhole: true });
  });
});
