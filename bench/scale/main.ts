import { createProgress, type Progress } from "../../hack/up/progress.ts";
import { errorText } from "../../src/cli/error-text.ts";
import { loadNow, readConditions, renderConditions } from "../conditions.ts";
import type { SizedFigure } from "../figures.ts";
import { writeResult } from "../results.ts";
import { renderTable, short } from "../table.ts";
import type { World } from "../world/open-world.ts";
import { readVersions, withWorld } from "../world/with-world.ts";
import { exponentOf } from "./growth.ts";
import { measureAt } from "./measure-at.ts";
import { parseScaleOptions, SCALE_HELP, type ScaleOptions } from "./options.ts";

const INTERRUPTED = 130;

/** Runs the measure with these arguments, until the signal aborts, and writes the result. Returns the exit code. */
export async function scaleBench(args: readonly string[], write: (text: string) => void, signal: AbortSignal): Promise<number> {
  const options = parseScaleOptions(args);
  if (options.help) {
    write(SCALE_HELP);
    return 0;
  }
  const progress = createProgress();
  const figures: SizedFigure[] = [];
  const failed: string[] = [];
  let conditions = readConditions({ postgres: "?", kubernetes: "?", engine: "scripted", processes: options.replicas.at(-1) ?? 1 });
  for (const replicas of options.replicas) {
    if (signal.aborted) break;
    const { instances, resources, profile, keep } = options;
    const wanted = { engine: "scripted", processes: replicas, unfinished: undefined, profile, instances, resources } as const;
    await withWorld({ wanted, keep, progress }, signal, async (world, either) => {
      conditions = { ...conditions, ...(await readVersions(world, either)) };
      await measureFleet({ world, options, replicas, progress, signal: either, onFigures: (found) => figures.push(...found) });
    }).catch((error: unknown) => {
      progress.say(`  ${errorText(error)}`);
      failed.push(`everything after that with ${replicas} processes`);
    });
  }
  if (figures.length > 0) {
    const whole = { ...conditions, load: [...conditions.load, loadNow()] };
    const file = writeResult({ conditions: whole, options: { ...options }, figures }, options.json);
    write(`\n${renderConditions(whole)}\n\n${renderTable(figures)}\n\n${renderGrowth(figures)}\n`);
    if (failed.length > 0) write(`Without figures: ${failed.join(", ")}.\n`);
    write(`Written to ${file}\n`);
  }
  if (signal.aborted) return INTERRUPTED;
  return failed.length > 0 ? 1 : 0;
}

interface FleetRun {
  readonly world: World;
  readonly options: ScaleOptions;
  readonly replicas: number;
  readonly progress: Progress;
  readonly signal: AbortSignal;
  readonly onFigures: (figures: readonly SizedFigure[]) => void;
}

async function measureFleet(run: FleetRun): Promise<void> {
  const { options, progress } = run;
  const largest = options.applications.at(-1) ?? 1;
  let standing: Parameters<typeof measureAt>[0]["standing"] = [];
  for (const applications of options.applications) {
    const workspaces = Math.max(1, Math.round((options.workspaces * applications) / largest));
    const { figures, standing: now } = await measureAt({ ...run, standing, applications, workspaces });
    for (const { what, unit, value } of figures) progress.say(`    ${what}: ${short(value)} ${unit}`);
    run.onFigures(figures.map((figure) => ({ ...figure, applications })));
    standing = now;
  }
}

/** One line for each figure of several sizes: the exponent of the number of applications. */
function renderGrowth(figures: readonly SizedFigure[]): string {
  const lines = [...Map.groupBy(figures, ({ measure, what }) => `${measure}: ${what}`)].flatMap(([name, of]) => {
    const exponent = exponentOf(of.map(({ applications, value }) => ({ applications, value })));
    return exponent === undefined ? [] : [`  ${name.padEnd(70)} ${exponent.toFixed(2)}`];
  });
  return lines.length === 0 ? "" : ["Growth, as the exponent of the number of applications:", ...lines].join("\n");
}
