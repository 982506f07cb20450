import process from "node:process";
import { parseArgs } from "node:util";
import { readProject } from "./checks/project.ts";
import { CANCELLED, endRequests } from "./end-requests.ts";
import { importGraph } from "./imports/import-graph.ts";
import { neededParts, PARTS } from "./stages/needed-parts.ts";
import { partsStage } from "./stages/parts-stage.ts";
import { isGood, renderResults, runStages } from "./stages/run-stages.ts";
import type { Stage } from "./stages/stage.ts";
import { staticStage } from "./stages/static-stage.ts";
import { suiteStage } from "./stages/suite-stage.ts";
import { filesOf, SUITES } from "./suites.ts";

const USAGE = `npm test -- [--bail] [stage…] [part of a file's path…]
stages: static, ${SUITES.map(({ name }) => name).join(", ")}; all of them where none is named (with a path: all but static)`;

async function main(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { bail: { type: "boolean", default: false } },
  });
  const stages: readonly Stage[] = [staticStage, ...SUITES.filter((suite) => filesOf(suite).length > 0).map(suiteStage)];
  const names = ["static", ...SUITES.map(({ name }) => name)];
  const wanted = positionals.filter((word) => names.includes(word));
  const filters = positionals.filter((word) => !names.includes(word));
  const chosen = stages.filter((stage) =>
    wanted.length > 0 ? wanted.includes(stage.name) : filters.length === 0 || stage !== staticStage,
  );
  const signal = endRequests();
  const results = await runStages(withParts(chosen, filters), { filters, bail: values.bail, print, signal });
  print(renderResults(results));
  if (signal.aborted) process.exitCode = CANCELLED;
  else if (!isGood(results)) process.exitCode = 1;
}

/** Suites whose tests may run what has to be built; in the others no program is started that listens. */
const MAY_NEED_PARTS: readonly string[] = ["contract", "fault", "e2e", "chart"];

/** Puts the building of what the chosen tests run in front of the first suite that runs any of it. */
function withParts(stages: readonly Stage[], filters: readonly string[]): readonly Stage[] {
  const graph = importGraph(readProject(process.cwd()).files);
  const needs = stages.map((stage) => {
    const suite = SUITES.find(({ name }) => name === stage.name && MAY_NEED_PARTS.includes(name));
    const files = suite === undefined ? [] : filesOf(suite, filters);
    const setups = files.length > 0 && suite?.globalSetup !== undefined ? [suite.globalSetup] : [];
    return neededParts(graph, [...files, ...setups]);
  });
  const first = needs.findIndex((parts) => parts.length > 0);
  const parts = PARTS.filter((part) => needs.some((needed) => needed.includes(part)));
  return first < 0 ? stages : stages.toSpliced(first, 0, partsStage(parts));
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS"))) throw error;
  print(`${error.message}\n${USAGE}`);
  process.exitCode = 1;
}
