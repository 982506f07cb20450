import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createLineSplitter } from "./lines.ts";

const split = (chunks: readonly string[]) => {
  const splitter = createLineSplitter();
  const lines = chunks.flatMap((chunk) => splitter.push(chunk));
  return { lines, rest: splitter.rest() };
};

describe("createLineSplitter", () => {
  it("finds the same lines wherever the chunks break", () => {
    const line = fc.string({ minLength: 1, maxLength: 20 }).filter((text) => !/[\r\n]/.test(text));
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat(200)), (lines, cuts) => {
        const text = lines.map((each) => `${each}\n`).join("");
        const places = [0, ...cuts.filter((cut) => cut < text.length).sort((a, b) => a - b), text.length];
        const chunks = places.slice(1).map((end, index) => text.slice(places[index], end));
        expect(split(chunks)).toEqual({ lines, rest: undefined });
      }),
    );
  });

  it("drops empty lines and carriage returns and keeps what has no end yet", () => {
    expect(split(["a\r\n\n", "b", "c\nd"])).toEqual({ lines: ["a", "bc"], rest: "d" });
  });

  it("refuses a line that would fill the memory", () => {
    const splitter = createLineSplitter(10);
    splitter.push("1234567890");
    expect(() => splitter.push("1")).toThrow(expect.objectContaining({ code: "kube.line-too-long" }));
  });
});
