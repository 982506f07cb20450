import type { Progress } from "../hack/up/progress.ts";
import { errorText } from "../src/cli/error-text.ts";
import type { SizedFigure } from "./figures.ts";
import type { Bench, Measure } from "./measure.ts";
import type { BenchOptions } from "./options.ts";
import { short } from "./table.ts";
import type { World } from "./world/open-world.ts";
import type { Deployment } from "./world/users.ts";

const WORKSPACES = Array.from({ length: 100 }, (_, index) => `bench-${index}`);
/** How many deployments are created at a time while filling up. */
const AT_A_TIME = 100;
const QUIET = { one: "bench-one", other: "bench-other" } as const;

export interface Run {
  readonly world: World;
  readonly measures: readonly Measure[];
  readonly options: BenchOptions;
  readonly progress: Progress;
  readonly onFigures: (figures: readonly SizedFigure[]) => void;
}

/**
 * Runs the measures at each size and hands over the figures of each when it has ended. A measure that fails does not
 * end the others. Returns the names of those that failed.
 */
export async function runMeasures(run: Run, signal: AbortSignal): Promise<readonly string[]> {
  const failed: string[] = [];
  const runAll = async (measures: readonly Measure[], bench: Bench): Promise<void> => {
    for (const measure of measures) if (!(await runMeasure(measure, bench, run.onFigures))) failed.push(nameOf(measure, bench));
  };
  const empty: Bench = { ...run, standing: [], workspaces: WORKSPACES, quiet: QUIET, signal };
  const sized = run.measures.filter(({ isSizeless }) => isSizeless !== true);
  await runAll(
    run.measures.filter(({ isSizeless }) => isSizeless === true),
    empty,
  );
  if (sized.length === 0) return failed;
  await prepare(empty);
  let standing: readonly Deployment[] = [];
  for (const size of run.options.applications) {
    standing = [...standing, ...(await fillUp(empty, standing.length, size))];
    await runAll(sized, { ...empty, standing });
  }
  return failed;
}

async function prepare({ world: { users }, progress, workspaces, quiet }: Bench): Promise<void> {
  const quietOnes = Object.values(quiet);
  await progress.step(`preparing ${workspaces.length + quietOnes.length} workspaces`, async () => {
    await users.addWorkspaces([...workspaces, ...quietOnes]);
    await users.settle(quietOnes.map((namespace) => users.next(namespace)));
  });
}

async function fillUp({ world: { users }, progress, workspaces }: Bench, from: number, to: number): Promise<readonly Deployment[]> {
  const more = Array.from({ length: to - from }, (_, index) => users.next(workspaces[(from + index) % workspaces.length] ?? ""));
  await progress.step(`filling up to ${to} applications`, async () => {
    for (let done = 0; done < more.length; done += AT_A_TIME) {
      progress.detail(`${from + done}`);
      await users.settle(more.slice(done, done + AT_A_TIME));
    }
  });
  return more;
}

function nameOf({ name, isSizeless }: Measure, { standing }: Bench): string {
  return isSizeless === true ? name : `${name} at ${standing.length}`;
}

async function runMeasure(measure: Measure, bench: Bench, onFigures: Run["onFigures"]): Promise<boolean> {
  const { progress, standing, signal } = bench;
  try {
    const figures = await progress.step(nameOf(measure, bench), () => measure.run(bench));
    for (const { what, unit, value } of figures) progress.say(`    ${what}: ${short(value)} ${unit}`);
    onFigures(figures.map((figure) => ({ ...figure, applications: standing.length })));
    return true;
  } catch (error) {
    if (signal.aborted) throw error;
    progress.say(`    ${errorText(error)}`);
    return false;
  }
}
