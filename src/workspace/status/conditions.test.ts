import { expect, it } from "vitest";
import { datedConditions, mirroredStatements } from "./conditions.ts";

it("cuts what a name without end, or engines' conditions without number, would make too long to be taken at all", () => {
  const many = Array.from({ length: 100 }, (_, index) => ({ type: "SyncError", message: `${index} ${"x".repeat(1_000)}` }));
  const long = { type: "Ready", status: "False", reason: "InvalidSpec", message: `'${"n".repeat(40_000)}' is no name` };
  const conditions = datedConditions([long, ...mirroredStatements(many, [])], [], "2026-01-01T00:00:00Z");
  expect(conditions.map(({ message }) => message?.length)).toEqual([4096, 4096]);
  expect(conditions.every(({ message }) => message?.endsWith("…"))).toBe(true);
});
