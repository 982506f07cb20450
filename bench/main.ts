import process from "node:process";
import { createProgress, type Progress } from "../hack/up/progress.ts";
import { errorText } from "../src/cli/error-text.ts";
import { compareRuns, renderDifferences } from "./compare.ts";
import { type Conditions, loadNow, readConditions, renderConditions } from "./conditions.ts";
import { isMet, type SizedFigure } from "./figures.ts";
import { instanceCacheBench } from "./instance-cache/main.ts";
import { loopsBench } from "./loops/main.ts";
import type { Measure } from "./measure.ts";
import { MEASURES } from "./measures/all.ts";
import { movesBench } from "./moves/main.ts";
import { type BenchOptions, parseBenchOptions, renderHelp } from "./options.ts";
import { placementBench } from "./placement/main.ts";
import { plannerBench } from "./planner/main.ts";
import { probingBench } from "./probing/main.ts";
import { resourceHealthBench } from "./resource-health/main.ts";
import { readResult, writeResult } from "./results.ts";
import { runMeasures } from "./run.ts";
import { scaleBench } from "./scale/main.ts";
import { renderTable } from "./table.ts";
import { readVersions, withWorld } from "./world/with-world.ts";

const INTERRUPTED = 130;

/** Benches with a world and options of their own, by the word that chooses one. */
const OWN_BENCHES: Readonly<Record<string, (args: readonly string[], print: (text: string) => void) => number | Promise<number>>> = {
  placement: placementBench,
  moves: movesBench,
  "resource-health": resourceHealthBench,
  "instance-cache": instanceCacheBench,
  scale: (args, print) => scaleBench(args, print, endOnSignals()),
  planner: plannerBench,
  loops: loopsBench,
  probing: probingBench,
};

/** `npm run bench`. Resolves with the exit code. */
async function main(args: readonly string[]): Promise<number> {
  const own = OWN_BENCHES[args[0] ?? ""];
  if (own !== undefined) return own(args.slice(1), (text) => void process.stdout.write(text));
  const options = parseBenchOptions(args, MEASURES);
  if (options.help) {
    process.stdout.write(renderHelp(MEASURES));
    return 0;
  }
  const before = options.compare === undefined ? undefined : readResult(options.compare);
  const ending = endOnSignals();
  const measured = await measure(options, createProgress(), ending);
  if (measured.figures.length > 0) tell(options, measured);
  if (ending.aborted) return INTERRUPTED;
  const differences = compareRuns(before?.figures ?? [], measured.figures);
  if (before !== undefined)
    process.stdout.write(`\nAgainst ${before.conditions.at}, commit ${before.conditions.commit}:\n${renderDifferences(differences)}\n`);
  return measured.failed.length > 0 || differences.some(({ isRegression }) => isRegression) ? 1 : 0;
}

interface Measured {
  readonly conditions: Conditions;
  readonly figures: readonly SizedFigure[];
  /** Measures that gave no figures. */
  readonly failed: readonly string[];
}

/** Whatever was measured until the run was stopped. */
async function measure(options: BenchOptions, progress: Progress, signal: AbortSignal): Promise<Measured> {
  const measures = MEASURES.filter(({ name, engines }) => options.names.includes(name) && engines.includes(options.engine));
  const figures: SizedFigure[] = [];
  let conditions = readConditions({ postgres: "?", kubernetes: "?", engine: options.engine, processes: options.processes });
  const failed: string[] = [];
  await withWorld({ wanted: { ...options, instances: 2 }, keep: options.keep, progress }, signal, async (world, either) => {
    conditions = { ...conditions, ...(await readVersions(world, either)) };
    const run = {
      world,
      options,
      progress,
      measures: measures as readonly Measure[],
      onFigures: (found: readonly SizedFigure[]) => figures.push(...found),
    };
    // Figures from before a failure are worth reporting all the same.
    await runMeasures(run, either).then(
      (names) => failed.push(...names),
      (error: unknown) => {
        if (either.aborted) return;
        progress.say(`  ${errorText(error)}`);
        failed.push("everything after that");
      },
    );
  });
  return { conditions: { ...conditions, load: [...conditions.load, loadNow()] }, figures, failed };
}

function tell(options: BenchOptions, { conditions, figures, failed }: Measured): void {
  const file = writeResult({ conditions, options: { ...options }, figures }, options.json);
  const missed = figures.filter((figure) => isMet(figure) === false).length;
  process.stdout.write(`\n${renderConditions(conditions)}\n\n${renderTable(figures)}\n\n`);
  if (failed.length > 0) process.stdout.write(`Without figures: ${failed.join(", ")}.\n`);
  process.stdout.write(`${missed === 0 ? "Every goal that was measured is met." : `Goals missed: ${missed}.`} Written to ${file}\n`);
}

/** The first signal stops the run cleanly. Later ones are ignored: processes would be left behind. */
function endOnSignals(): AbortSignal {
  const ending = new AbortController();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, () => ending.abort(new Error("stopped on request")));
  process.on("unhandledRejection", (error) => {
    process.stderr.write(`bench: ${errorText(error)}\n`);
    ending.abort(error);
  });
  return ending.signal;
}

main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`bench: ${errorText(error)}\n`);
    process.exit(1);
  },
);
