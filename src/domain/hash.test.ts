import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson, contentHash, sha256 } from "./hash.ts";

describe("content hashes", () => {
  it("follow FIPS 180-4 (the empty string's SHA-256)", () => {
    expect(sha256("")).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  });

  it("do not depend on the order in which fields were written", () => {
    expect(canonicalJson({ b: [{ d: 1, c: 2 }], a: undefined })).toBe('{"b":[{"c":2,"d":1}]}');
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const reversed = Object.fromEntries(Object.entries(value).reverse());
        expect(contentHash(reversed)).toBe(contentHash(value));
      }),
    );
  });

  it("are of the text that JSON.stringify gives with sorted names, whatever stands in a value", () => {
    const name = fc.oneof(fc.string(), fc.constantFrom("1", "10", "2", "__proto__", "toJSON", "\u{1f600}", "\ud800"));
    const leaf = fc.oneof(fc.jsonValue(), fc.constantFrom(undefined, Number.NaN, -0, 1e21, new Date(0)), fc.float());
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof({ depthSize: "small" }, leaf, fc.array(tie("value")), fc.dictionary(name, tie("value"))),
    }));
    const sorted = (_name: string, entry: unknown): unknown =>
      entry !== null && typeof entry === "object" && !Array.isArray(entry)
        ? Object.fromEntries(Object.entries(entry).sort(([a], [b]) => (a < b ? -1 : 1)))
        : entry;
    fc.assert(
      fc.property(value, (each) => {
        expect(canonicalJson({ each })).toBe(JSON.stringify({ each }, sorted));
      }),
    );
  });

  it("depend on the order of a list", () => {
    expect(contentHash([1, 2])).not.toBe(contentHash([2, 1]));
  });
});
