import process from "node:process";
import { parseArgs } from "node:util";
import { TYPES } from "./checks/checks.ts";
import { readProject } from "./checks/project.ts";
import { runChecks } from "./checks/run-checks.ts";
import { CANCELLED, endRequests } from "./end-requests.ts";
import { importGraph } from "./imports/import-graph.ts";
import { findChanges, NoGitError } from "./quick/changed-files.ts";
import { onChange } from "./quick/on-change.ts";
import { quickChecks } from "./quick/quick-checks.ts";
import { touchedTests } from "./quick/touched-tests.ts";
import { isGood, renderResults, runStages } from "./stages/run-stages.ts";
import type { Stage } from "./stages/stage.ts";
import { suiteStage } from "./stages/suite-stage.ts";
import { filesOf, SUITES } from "./suites.ts";

const USAGE = `npm run test:quick -- [--all] [--watch]
Types, then format and lint of what changed, then the core tests that lead to it. Needs no network and starts no server.

  --all     every core test
  --watch   again whenever a file is saved; what runs then is ended. Ctrl-C ends it

Git says what changed: since this branch left main, committed or not. The rest is for \`npm test\`.`;

async function main(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      all: { type: "boolean", default: false },
      watch: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return print(USAGE);
  const ended = endRequests();
  if (values.watch) return await runOnChanges(values.all, ended);
  const isFine = await runOnce(values.all, ended);
  if (ended.aborted) process.exitCode = CANCELLED;
  else if (!isFine) process.exitCode = 1;
}

/** Runs now and after each change. A run that a change makes pointless is ended, and waited for. */
async function runOnChanges(isAll: boolean, ended: AbortSignal): Promise<void> {
  let wake = (): void => undefined;
  let outdated = new AbortController();
  let hasChanged = true;
  const changed = (): void => {
    hasChanged = true;
    outdated.abort();
    wake();
  };
  onChange(".", changed, ended);
  ended.addEventListener("abort", () => wake());
  while (!ended.aborted) {
    if (!hasChanged) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
      continue;
    }
    hasChanged = false;
    outdated = new AbortController();
    await runOnce(isAll, AbortSignal.any([ended, outdated.signal]));
    if (!hasChanged && !ended.aborted) print("waiting for a change …");
  }
}

/** Whether all is well as far as this goes. */
async function runOnce(isAll: boolean, signal: AbortSignal): Promise<boolean> {
  const { since, paths } = await findChanges();
  const suites = SUITES.map((suite) => ({ suite, files: filesOf(suite) }));
  const core = suites.find(({ suite }) => suite.name === "core");
  if (core === undefined) throw new Error("there is no suite called core");
  const others = suites.filter((each) => each !== core).flatMap(({ files }) => files);
  const touched = touchedTests(importGraph(readProject(process.cwd()).files), paths, {
    core: core.files,
    setup: core.suite.setupFiles ?? [],
    others,
  });
  const tests = isAll ? core.files : touched.core;
  print(`${count(paths.length, "file")} changed since ${since}; ${count(tests.length, "core test file")} to run`);
  const stages = [staticStage(paths), ...(tests.length === 0 ? [] : [suiteStage(core.suite)])];
  const results = await runStages(stages, { filters: isAll ? [] : tests, bail: false, print, signal });
  if (signal.aborted) return false;
  if (touched.others > 0) print(`\nleft to \`npm test\`: ${count(touched.others, "test file")} of other suites that the change touches`);
  print(renderResults(results));
  return isGood(results);
}

function staticStage(changed: readonly string[]): Stage {
  return {
    name: "static",
    async run({ print: say, signal }) {
      const outcomes = await runChecks(quickChecks(changed), say, signal);
      const failed = outcomes.filter(({ isFine }) => !isFine);
      const isFatal = failed.some(({ check }) => check.name === TYPES);
      const note = "the types are broken: no test was run";
      return { passed: outcomes.length - failed.length, failed: failed.length, skipped: 0, ...(isFatal ? { isFatal, note } : {}) };
    },
  };
}

function count(many: number, what: string): string {
  return `${many} ${what}${many === 1 ? "" : "s"}`;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  const isUsage = error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
  if (!(isUsage || error instanceof NoGitError)) throw error;
  print(isUsage ? `${error.message}\n${USAGE}` : error.message);
  process.exitCode = 1;
}
