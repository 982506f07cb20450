import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { describe, expect, it } from "vitest";
import { renderDefinitions, renderRights } from "./render-objects.ts";
import { renderChartReadme, renderValuesFile, renderValuesSchema } from "./render-values.ts";

const CHART = new URL("../../charts/argosy/", import.meta.url).pathname;

describe("the chart's generated files", () => {
  const wanted: Readonly<Record<string, string>> = {
    "README.md": renderChartReadme(),
    "values.yaml": renderValuesFile(),
    "values.schema.json": renderValuesSchema(),
    ...renderDefinitions(),
    ...renderRights(),
  };

  it("are what the program and the schemas say", () => {
    if (process.env["ARGOSY_WRITE_GOLDEN"] !== undefined) {
      rmSync(join(CHART, "files"), { recursive: true, force: true });
      for (const [path, text] of Object.entries(wanted)) {
        mkdirSync(dirname(join(CHART, path)), { recursive: true });
        writeFileSync(join(CHART, path), text);
      }
    }
    for (const [path, text] of Object.entries(wanted)) expect(readFileSync(join(CHART, path), "utf8"), path).toBe(text);
  });

  it("say of every value what it means", () => {
    const rows = renderChartReadme()
      .split("\n")
      .filter((line) => line.startsWith("| `"));
    expect(rows.length).toBeGreaterThan(60);
    expect(rows.filter((row) => row.endsWith("|  |"))).toEqual([]);
  });

  it("are all there is below files/", () => {
    const there = readdirSync(join(CHART, "files"), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(CHART.length));
    expect(there.sort()).toEqual(
      Object.keys(wanted)
        .filter((path) => path.startsWith("files/"))
        .sort(),
    );
  });
});
