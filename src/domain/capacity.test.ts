import { describe, expect, it } from "vitest";
import { withSize } from "./capacity.ts";
import { millis } from "./clock.ts";

describe("a pool", () => {
  const sized = (instances: { readonly min: number; readonly max: number; readonly scaling?: "auto" }, wanted?: number) =>
    withSize({ name: "standard", instances }, wanted === undefined ? {} : { standard: { instances: wanted, at: millis(0), reason: "" } })
      .instances.min;

  it.each([
    ["whose size is declared has that", { min: 2, max: 5 }, 4, 2],
    ["has what was decided", { min: 2, max: 5, scaling: "auto" as const }, 4, 4],
    ["has no fewer than declared", { min: 2, max: 5, scaling: "auto" as const }, 1, 2],
    ["has no more than declared", { min: 2, max: 5, scaling: "auto" as const }, 9, 5],
    ["has what is declared until something is decided", { min: 2, max: 5, scaling: "auto" as const }, undefined, 2],
  ])("%s", (_what, instances, wanted, expected) => {
    expect(sized(instances, wanted)).toBe(expected);
  });
});
