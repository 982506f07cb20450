import { expect, it } from "vitest";
import { LAYERS } from "./rules.ts";
import { complaints, silentRules } from "./verdict.ts";

const violation = { from: "src/a.ts", to: "src/b.ts", rule: { name: "no-cycles", severity: "error" as const } };

it("finds nothing in a tree that was read whole and keeps the layers", () => {
  expect(complaints({ files: 3, violations: [] }, 3)).toEqual([]);
});

it("takes reading fewer files than there are for a failure", () => {
  expect(complaints({ files: 2, violations: [] }, 3)).toEqual(["only 2 of 3 files below src/ were read"]);
});

it("says what a broken rule asks for", () => {
  expect(complaints({ files: 3, violations: [violation] }, 3)).toEqual([
    "src/a.ts → src/b.ts: no-cycles (files that import each other are one file, or need a third)",
  ]);
});

it("names every rule that says nothing about the planted tree", () => {
  expect(silentRules([violation])).toHaveLength(LAYERS.length - 1);
  expect(silentRules(LAYERS.map(({ name = "" }) => ({ rule: { name, severity: "error" } })))).toEqual([]);
});
