import { readFileSync } from "node:fs";
import { relative } from "node:path";
import process from "node:process";
import { coverageByModule, gaps, type Lines, type ModuleCoverage, modulesBelow, percent, sum } from "./coverage/by-module.ts";
import { runVitest } from "./vitest.ts";

/** Percent of the lines of the core files of each module. What is left are branches that only a defect reaches. */
const ENOUGH = 95;

const status = await runVitest(["--project=core", "--reporter=dot", "--coverage"], { signal: new AbortController().signal });
process.exitCode = status === "lingered" ? 1 : status;
report(readSummary());

function report(files: Readonly<Record<string, Lines>>): void {
  const modules = coverageByModule(files);
  const all: ModuleCoverage = { module: "all core", files: modules.reduce((count, module) => count + module.files, 0), ...sum(modules) };
  const lines = [...modules, all].map(
    (module) =>
      `${module.module.padEnd(22)}${String(module.files).padStart(6)}${String(module.total).padStart(8)}${percent(module).toFixed(1).padStart(9)}`,
  );
  process.stdout.write(`\nmodule                 files   lines  percent\n${lines.join("\n")}\n`);
  const below = modulesBelow(modules, ENOUGH);
  if (below.length === 0) return;
  const left = gaps(files).filter((gap) => below.some((module) => gap.startsWith(`src/${module}/`)));
  process.stdout.write(`\n${ENOUGH} % of the lines of each module's core are wanted: ${below.join(", ")}. Left out:\n${left.join("\n")}\n`);
  process.exitCode = 1;
}

/** Lines by path in the checkout, from the summary Vitest has just written. */
function readSummary(): Readonly<Record<string, Lines>> {
  const { total: _all, ...files } = JSON.parse(readFileSync("coverage/coverage-summary.json", "utf8")) as Record<string, { lines: Lines }>;
  return Object.fromEntries(Object.entries(files).map(([path, { lines }]) => [relative(process.cwd(), path), lines]));
}
