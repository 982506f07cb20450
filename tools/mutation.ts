import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync, readFileSync } from "node:fs";
import process from "node:process";
import { isCoreFile, moduleOf } from "./core-files.ts";
import { type MutationReport, summaryOf } from "./mutation/summary.ts";

/**
 * Changes the core of one module, or some files of it, in every way Stryker knows and counts the changes its tests do not notice.
 * What follows and names no file is for Stryker: `--ignoreStatic` leaves out what runs while files are loaded, for which all tests of
 * the module have to be run each time.
 *
 * What was found is kept in `reports/mutation/<module>.json` once a run has ended, and taken over by the next run where neither the line nor
 * the tests of it changed; `--force` finds out anew. A run that is broken off keeps nothing, so a large module is best done some files at a
 * time: `--summary` adds up what is kept.
 */
const [module, ...rest] = process.argv.slice(2);
const args = rest.filter((arg) => !arg.endsWith(".ts"));
const wanted = rest.filter((arg) => arg.endsWith(".ts")).map((file) => `src/${module}/${file}`);
const core = globSync("src/**/*.ts").filter(isCoreFile).sort();
const ofModule = core.filter((path) => moduleOf(path) === module);
const unknown = wanted.filter((path) => !ofModule.includes(path));
const mutate = wanted.length === 0 ? ofModule : wanted;
const kept = `reports/mutation/${module}.json`;

if (module === undefined || ofModule.length === 0 || unknown.length > 0) {
  for (const path of unknown) process.stdout.write(`${path} is no core file\n`);
  process.stdout.write(
    `npm run mutation -- <module> [plan/forced.ts ...] [--summary | options of Stryker], where module is one of ${[...new Set(core.map(moduleOf))].join(", ")}\n`,
  );
  process.exitCode = 1;
} else if (args.includes("--summary")) {
  const report = existsSync(kept) ? (JSON.parse(readFileSync(kept, "utf8")) as MutationReport) : { files: {} };
  for (const line of summaryOf(report, mutate)) process.stdout.write(`${line}\n`);
} else {
  const env = { ...process.env, ARGOSY_MODULE: module, ARGOSY_MUTATE: mutate.join(",") };
  const child = spawn(process.execPath, ["node_modules/@stryker-mutator/core/bin/stryker.js", "run", ...args], { stdio: "inherit", env });
  const [status] = (await once(child, "exit")) as [number | null];
  process.exitCode = status ?? 1;
}
