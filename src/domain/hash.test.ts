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

  it("depend on the order of a list", () => {
    expect(contentHash([1, 2])).not.toBe(contentHash([2, 1]));
  });
});
