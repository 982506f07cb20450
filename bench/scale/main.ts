import process from "node:process";
import { createProgress, type Progress } from "../../hack/up/progress.ts";
import { errorText } from "../../src/cli/error-text.ts";
import { compareRuns, renderDifferences } from "../compare.ts";
import { type Conditions, loadNow, readConditions, renderConditions } from "../conditions.ts";
import { isMet, type SizedFigure } from "../figures.ts";
import { type Result, readResult, writeResult } from "../results.ts";
import { renderTable, short } from "../table.ts";
import type { World } from "../world/open-world.ts";
import { readVersions, withWorld } from "../world/with-world.ts";
import { fillingFigures, fillUp } from "./filling.ts";
import { holdFigures, renderGrowth, renderMissed, scaleName } from "./growth.ts";
import { settle, watchIdle, watchWorldAlone } from "./idleness.ts";
import { measureLatencies } from "./latencies.ts";
import { type PartOfScale, parseScaleOptions, SCALE_HELP, type ScaleOptions } from "./options.ts";
import { killOne, rollOver } from "./restarts.ts";
import type { Plain, ScaleRun } from "./run.ts";

const INTERRUPTED = 130;

/** Runs the measure with these arguments, until the signal aborts. The result is in its file after each part. Returns the exit code. */
export async function scaleBench(args: readonly string[], write: (text: string) => void, signal: AbortSignal): Promise<number> {
  const options = parseScaleOptions(args);
  if (options.help) {
    write(SCALE_HELP);
    return 0;
  }
  const before = options.compare === undefined ? undefined : readResult(options.compare);
  const progress = createProgress(options.output === "json" ? process.stderr : process.stdout);
  const { instances, resources, history, reconciliationSeconds, probes, profile, keep } = options;
  const [filling = 1] = options.replicas;
  const engine = { engine: "scripted", resources, history, reconciliationSeconds } as const;
  const wanted = { ...engine, processes: filling, unfinished: undefined, profile, instances, probes };
  let conditions = readConditions({ postgres: "?", kubernetes: "?", engine: "scripted", processes: options.replicas.at(-1) ?? 1 });
  const figures: SizedFigure[] = [];
  let failure: string | undefined;
  await withWorld({ wanted, keep, progress }, signal, async (world, either) => {
    conditions = { ...conditions, ...(await readVersions(world, either)) };
    await measureFleet({ world, options, progress, signal: either }, (found) => {
      figures.push(...found);
      writeResult(resultOf(conditions, options, figures), options.json);
    });
  }).catch((error: unknown) => {
    failure = errorText(error);
  });
  if (failure !== undefined) progress.say(`  ${failure}`);
  const result = resultOf(conditions, options, figures);
  const differences = compareRuns(before?.figures ?? [], result.figures);
  if (figures.length > 0) {
    const file = writeResult(result, options.json);
    if (options.output === "json") write(`${JSON.stringify(result, undefined, 2)}\n`);
    else write(`\n${renderResult(result)}\nWritten to ${file}\n`);
    if (before !== undefined)
      progress.say(`\nAgainst ${before.conditions.at}, commit ${before.conditions.commit}:\n${renderDifferences(differences)}`);
  }
  if (signal.aborted) return INTERRUPTED;
  return failure !== undefined || differences.some(({ isRegression }) => isRegression) ? 1 : 0;
}

function resultOf(conditions: Conditions, options: ScaleOptions, figures: readonly SizedFigure[]): Result {
  return { conditions: { ...conditions, load: [...conditions.load, loadNow()] }, options: { ...options }, figures: holdFigures(figures) };
}

function renderResult({ conditions, figures }: Result): string {
  const missed = renderMissed(figures);
  const held = figures.filter((figure) => isMet(figure) !== undefined).length;
  return [
    ...[renderConditions(conditions), "", renderTable(figures), "", renderGrowth(figures), ""],
    missed === "" ? `All ${held} figures that have a limit are within it.` : missed,
  ].join("\n");
}

const MEASURES: Readonly<Record<PartOfScale, (run: ScaleRun) => Promise<readonly Plain[]>>> = {
  idle: watchIdle,
  latencies: measureLatencies,
  kill: killOne,
  rolling: rollOver,
};

interface FleetRun {
  readonly world: World;
  readonly options: ScaleOptions;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

/**
 * Fills one fleet size by size. At each size the world is watched without Argosy, then Argosy is started anew with each number of processes and
 * measured. Figures are handed over as soon as there are any.
 */
async function measureFleet(run: FleetRun, onFigures: (figures: readonly SizedFigure[]) => void): Promise<void> {
  const { world, options, progress, signal } = run;
  const [filling = 1] = options.replicas;
  const hand = (applications: number, replicas: number, plain: readonly Plain[]): void => {
    for (const { what, unit, value, p99 } of plain)
      progress.say(`    ${what}: ${short(value)} ${unit}${p99 === undefined ? "" : `, p99 ${short(p99)}`}`);
    onFigures(plain.map((figure) => ({ ...figure, measure: scaleName(replicas), applications })));
  };
  let standing: ScaleRun["standing"] = [];
  for (const applications of options.applications) {
    if (standing.length > 0) await progress.step("starting Argosy to fill", () => world.fleet.startAnew(filling, signal));
    const filled = await progress.step(`filling up to ${applications} applications`, () => fillUp({ ...run, standing, applications }));
    standing = filled.standing;
    const alone = await progress.step(`the world without Argosy at ${applications}`, async () => {
      await world.fleet.startAnew(0, signal);
      return watchWorldAlone(run);
    });
    hand(applications, filling, fillingFigures(filled, alone));
    for (const replicas of options.replicas) {
      const at = `at ${applications}, ${replicas} ${replicas === 1 ? "process" : "processes"}`;
      const sized: ScaleRun = { ...run, standing, replicas, alone };
      hand(applications, replicas, await progress.step(`started anew ${at}`, () => settle(sized)));
      for (const part of options.only.filter((each) => each !== "rolling" || replicas > 1))
        hand(applications, replicas, await progress.step(`${part} ${at}`, () => MEASURES[part](sized)));
    }
  }
}
