import { expect, it } from "vitest";
import { fields } from "./field.ts";
import { renderConfigReference } from "./reference.ts";

it("gives every field a meaning", () => {
  expect(fields.filter((field) => field.children.length === 0 && field.meaning === "")).toEqual([]);
});

it("names path, type, default and meaning of a field", () => {
  const lines = renderConfigReference().split("\n");
  expect(lines).toContain(
    "| `listen.metricsPort` | a whole number from 1 to 65535 | – | Separate port for metrics and health, so that the API's can be closed to scrapers. |",
  );
  expect(lines).toContain('| `log.level` | one of debug, info, warn, error | `"info"` | Least severity that is written. |');
  expect(lines.some((line) => line.startsWith("| `encryption.keys[].id` |"))).toBe(true);
});

it("has the same number of columns in every line", () => {
  const widths = renderConfigReference()
    .trimEnd()
    .split("\n")
    .map((line) => line.split(/(?<!\\)\|/).length);
  expect(new Set(widths)).toEqual(new Set([6]));
});
