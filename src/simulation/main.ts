import process from "node:process";
import { InputError } from "../domain/errors.ts";
import { BUGS } from "./bugs/bugs.ts";
import { huntBug, renderHunts } from "./bugs/hunt.ts";
import { runMarathon } from "./marathon/marathon.ts";
import { addUp, type Part, renderSum } from "./marathon/part.ts";
import { readParts } from "./marathon/read-parts.ts";
import { parseSimulateOptions, renderHelp, type SimulateOptions } from "./options.ts";
import { drawOutcome } from "./picture.ts";
import { type RunOutcome, runSeed } from "./run.ts";
import { loadScenario, scenarioNames } from "./scenarios/load.ts";

/** How many seeds a deliberate bug may take to be found. */
const LONGEST_HUNT = 1_000;

/** `npm run simulate`. Resolves with the exit status. */
async function main(args: readonly string[]): Promise<number> {
  const options = parseSimulateOptions(args);
  if (options.help) return print(renderHelp(scenarioNames().map(loadScenario)));
  if (options.isHunt) return hunt();
  if (options.addUp !== undefined) return print(`${renderSum(addUp(readParts(options.addUp)))}\n`);
  if (options.moves !== undefined) return goOn(options, options.moves);
  const scenario = loadScenario(options.scenario);
  let isGood = true;
  for (let seed = options.seed; seed < options.seed + options.seeds; seed += 1) {
    const outcome = await runSeed({ scenario, seed });
    isGood &&= outcome.violations.length === 0;
    print(`${render(options, outcome)}\n`);
  }
  return isGood ? 0 : 1;
}

function render({ output }: SimulateOptions, outcome: RunOutcome): string {
  if (output === "text") return drawOutcome(outcome);
  const { history, last, ...rest } = outcome;
  return JSON.stringify({ ...rest, troubles: history.entries().filter(({ happening }) => happening.kind === "chaos"), fleet: last });
}

/** Prints how far it is after each tenth run, because it may take hours, and what was done if it is ended early. */
async function goOn({ scenario, seed, output }: SimulateOptions, moves: number): Promise<number> {
  const onRun = (soFar: Part): void => {
    if (soFar.runs % 10 === 0) process.stderr.write(`${renderSum(addUp([soFar]))}\n`);
  };
  const ending = new AbortController();
  for (const name of ["SIGTERM", "SIGINT"]) process.once(name, () => ending.abort());
  const part = await runMarathon({ scenario, seed, moves, onRun }, ending.signal);
  print(output === "json" ? `${JSON.stringify(part)}\n` : `${renderSum(addUp([part]))}\n`);
  return part.failed.length === 0 ? 0 : 1;
}

async function hunt(): Promise<number> {
  const hunts = [];
  for (const bug of BUGS) hunts.push(await huntBug(bug, LONGEST_HUNT));
  print(`${renderHunts(hunts)}\n`);
  return hunts.every(({ runs }) => runs !== undefined) ? 0 : 1;
}

function print(text: string): 0 {
  process.stdout.write(text);
  return 0;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof InputError)) throw error;
  process.stderr.write(`argosy simulate: ${error.message}. ${error.remedy}\n`);
  process.exitCode = 2;
}
