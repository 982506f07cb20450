import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readString } from "./string-in-json.ts";

const bytes = (text: string): Buffer => Buffer.from(text, "utf8");

describe("reading a string out of JSON text", () => {
  it.each([
    ['{"metadata":{"namespace":"a"}}', "a"],
    ['{ "spec" : {"metadata":{"namespace":"wrong"}}, "metadata" : { "name":"x", "namespace" : "a" } }', "a"],
    ['{"a":"\\"","b":[{"metadata":1},"]"],"c":-1.5e3,"d":null,"metadata":{"labels":{"namespace":"wrong"},"namespace":"ä\\n"}}', "ä\n"],
    ['{"metadata":{"name":"x"},"namespace":"wrong"}', undefined],
    ['{"metadata":{"namespace":null}}', undefined],
    ['{"metadata":"namespace"}', undefined],
    ["{}", undefined],
    ["[]", undefined],
    ["", undefined],
  ])("finds in %s what a parser would", (text, expected) => {
    expect(readString(bytes(text), ["metadata", "namespace"])).toBe(expected);
  });

  it("agrees with a parser on whatever object", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), fc.option(fc.string()), (object, namespace, space) => {
        const whole = { ...object, metadata: { ...object, namespace } };
        const text = JSON.stringify(whole, undefined, space === null ? undefined : 2);
        expect(readString(bytes(text), ["metadata", "namespace"])).toBe(namespace);
      }),
    );
  });
});
