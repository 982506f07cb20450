import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cloneJson, equalJson, type Json } from "./json.ts";

const json = fc.jsonValue({ maxDepth: 3, stringUnit: fc.constantFrom("a", "b") }).map((value) => JSON.parse(JSON.stringify(value)) as Json);

describe("two values of JSON", () => {
  it("are the same exactly where all that is in them is", () => {
    fc.assert(
      fc.property(json, json, (a, b) => {
        expect(equalJson(a, b)).toBe(isDeepStrictEqual(a, b));
        expect(equalJson(a, cloneJson(a))).toBe(true);
      }),
    );
  });

  it("are the same in whatever order their maps were built", () => {
    expect(equalJson({ a: 1, b: [{ c: null, d: "" }] }, { b: [{ d: "", c: null }], a: 1 })).toBe(true);
  });

  it.each<readonly [Json, Json]>([
    [{ a: 1 }, { a: 1, b: 2 }],
    [{ a: 1, b: 2 }, { a: 1 }],
    [{ a: null }, {}],
    [{ a: 1 }, { b: 1 }],
    [[1], [1, 2]],
    [
      [1, 2],
      [2, 1],
    ],
    [[], {}],
    [{}, []],
    [null, {}],
    [1, "1"],
  ])("are not the same: %j and %j", (a, b) => {
    expect(equalJson(a, b)).toBe(false);
  });
});
