import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RESIDENT_MEMORY, sampleOf } from "./read-usage.ts";

describe("a line of a metrics page", () => {
  it.each([
    ["process_resident_memory_bytes 2.37453312e+08", 237_453_312],
    ["process_resident_memory_bytes 1024", 1024],
    ["process_resident_memory_bytes 0.5 1700000000000", 0.5],
    ["process_resident_memory_bytes NaN", undefined],
    ["process_resident_memory_bytes +Inf", undefined],
    ["process_resident_memory_bytes -1", undefined],
    ["process_resident_memory_bytes 1e999", undefined],
    ["process_resident_memory_bytes", undefined],
    ["process_resident_memory_bytes ", undefined],
    ['process_resident_memory_bytes{pod="a"} 5', undefined],
    ["process_resident_memory_bytes_max 5", undefined],
    ["# TYPE process_resident_memory_bytes gauge", undefined],
  ])("%j is %s", (line, value) => {
    expect(sampleOf(line, RESIDENT_MEMORY)).toBe(value);
  });

  it("gives a number of at least zero or nothing, whatever the line is", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const value = sampleOf(`${RESIDENT_MEMORY} ${text}`, RESIDENT_MEMORY);
        expect(value === undefined || (Number.isFinite(value) && value >= 0)).toBe(true);
      }),
    );
  });
});
