import { describe, expect, it } from "vitest";
import { nearest } from "./nearest.ts";

describe("what was probably meant by a misspelt word", () => {
  it.each([
    ["pool", ["pools", "egress"], "pools"],
    ["KUBE_config-secret", ["kubeconfigSecret"], "kubeconfigSecret"],
    ["milliCPU", ["memory", "milliCpu"], "milliCpu"],
    ["cat", ["bat", "rat"], "bat"],
    ["windows", ["pools", "egress"], undefined],
    ["x", [], undefined],
  ])("%s of %j is %s", (word, candidates, meant) => {
    expect(nearest(word, candidates)).toBe(meant);
    expect(nearest(word, candidates.toReversed())).toBe(meant);
  });

  it("is found without reading a hostile word to its end", () => {
    expect(nearest("a".repeat(10_000_000), ["a".repeat(64)])).toBe("a".repeat(64));
  });
});
