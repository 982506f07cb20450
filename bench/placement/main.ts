import { loadavg } from "node:os";
import process from "node:process";
import { simulateGrowth } from "../../src/scheduler/testing/growth.ts";
import { runDeterminism } from "./determinism.ts";
import { DRIFT, type DriftOutcome, runDrift } from "./drift.ts";
import { EVENTS, type Outcome, runEvents } from "./events.ts";
import type { FleetShape, Tail } from "./fleets.ts";
import { type Figure, isMet, lineOf, number, table } from "./goals.ts";
import { runHot } from "./hot.ts";
import { type Part, PLACEMENT_HELP, type PlacementOptions, parsePlacementOptions } from "./options.ts";
import { runSplit, type SplitOutcome } from "./split.ts";

interface Options extends Pick<PlacementOptions, "parts" | "seeds"> {
  readonly write: (text: string) => void;
}

const TAILS: readonly Tail[] = ["lognormal", "zipf"];
const FIVE = { applications: 0.6, cachedResources: 0.5, clusterEntries: 0.45, milliCpu: 0.6, gitPerMinute: 0.4 };

/** Measures placement against its goals and against other algorithms on the same fleets, and prints as it goes. */
function run({ parts, seeds, write }: Options): readonly Figure[] {
  const measure: Readonly<Record<Part, () => readonly Figure[]>> = {
    determinism: () => determinism(write),
    events: () => events(seeds, write),
    dimensions: () => dimensions(seeds, write),
    drift: () => drift(seeds, write),
    hot: () => hot(seeds, write),
    growth: () => growth(write),
    split: () => split(seeds, write),
  };
  const figures = parts.flatMap((part) => {
    const found = measure[part]();
    write(`\n${table([["figure", "measured", "goal", "unit", "", "conditions"], ...found.map(lineOf)])}\n`);
    write(`load average of the machine: ${loadavg().map(number).join(" ")}\n\n`);
    return found;
  });
  write(`${figures.filter((figure) => !isMet(figure)).length} of ${figures.length} figures miss their goal\n`);
  return figures;
}

const ratio = (a: number, b: number): number => (b === 0 ? (a === 0 ? 1 : Number.POSITIVE_INFINITY) : a / b);
const most = (values: readonly number[]): number => values.reduce((a, b) => Math.max(a, b), 0);
const mean = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0) / Math.max(1, values.length);
const seedsUpTo = (seeds: number): readonly number[] => Array.from({ length: seeds }, (_, index) => index + 1);

function determinism(write: Options["write"]): readonly Figure[] {
  const { shuffles, moves, hashes, isSameElsewhere, planHash } = runDeterminism(1_000);
  write(`Node.js ${process.version}: plan ${planHash} of ${moves} moves\n`);
  const conditions = `2,000 workspaces on 20, everything at once, ${shuffles} orders of rows`;
  return [
    { name: "different plans of the same rows", measured: hashes - 1, goal: 0, unit: "plans", conditions },
    { name: "different plan in another process", measured: isSameElsewhere ? 0 : 1, goal: 0, unit: "plans", conditions },
  ];
}

function events(seeds: number, write: Options["write"]): readonly Figure[] {
  return TAILS.flatMap((tail) =>
    [50, 500].flatMap((instances) => {
      const shape = { tail, instances, workspaces: 10_000, utilisation: { applications: 0.7 } };
      const outcomes = seedsUpTo(seeds).flatMap((seed) => runEvents({ ...shape, seed }, true));
      const conditions = `10,000 workspaces on ${instances}, ${tail}, 70 %, ${seeds} seeds`;
      write(`\n${conditions}: moves, % of load moved, max/mean, CPU ms; means\n${comparison(outcomes)}\n`);
      return eventFigures(
        outcomes.filter(({ algorithm }) => algorithm === "planner"),
        conditions,
        50,
      );
    }),
  );
}

function comparison(outcomes: readonly Outcome[]): string {
  const algorithms = [...new Set(outcomes.map(({ algorithm }) => algorithm))];
  const cell = (algorithm: string, event: string): string => {
    const those = outcomes.filter((each) => each.algorithm === algorithm && each.event === event);
    const of = (pick: (outcome: Outcome) => number): number => mean(those.map(pick));
    return `${of(({ moves }) => moves).toFixed(1)}, ${of(({ load }) => load * 100).toFixed(2)}, ${of((each) => each.maxOverMean).toFixed(2)}, ${of(({ ms }) => ms).toFixed(0)}`;
  };
  return table([["", ...EVENTS], ...algorithms.map((algorithm) => [algorithm, ...EVENTS.map((event) => cell(algorithm, event))])]);
}

function eventFigures(outcomes: readonly Outcome[], conditions: string, goalMs: number): readonly Figure[] {
  const bulk = outcomes.filter(({ event }) => event === "bulk");
  const single = outcomes.filter(({ event }) => event !== "bulk");
  const moved = single.reduce((sum, { load }) => sum + load, 0);
  const counted = single.filter(({ event }) => event !== "add");
  const beyond = counted.map(({ moves, target }) => moves - Math.max(1.2 * target.moves, target.moves + 1));
  const figure = (name: string, measured: number, goal: number, unit = "ratio"): Figure => ({ name, measured, goal, unit, conditions });
  return [
    figure("max/mean after a bulk plan", most(bulk.map((each) => each.maxOverMean)), 1.06),
    figure("max/mean after every event", most(single.map((each) => each.maxOverMean)), 1.1005),
    figure(
      "load moved / least for what plans aim at",
      ratio(
        moved,
        single.reduce((sum, { target }) => sum + target.load, 0),
      ),
      1.1,
    ),
    figure(
      "load moved / least for the bound alone",
      ratio(
        moved,
        single.reduce((sum, { lowerBound }) => sum + lowerBound.load, 0),
      ),
      Number.POSITIVE_INFINITY,
    ),
    figure("moves beyond max(1.2 least, least + 1), worst event", most(beyond), 0, "moves"),
    figure("a plan after an event, worst", most(single.map(({ ms }) => ms)), goalMs, "CPU ms"),
    figure(
      "a plan after an event, median",
      single.map(({ ms }) => ms).toSorted((a, b) => a - b)[Math.floor(single.length / 2)] ?? 0,
      Number.POSITIVE_INFINITY,
      "CPU ms",
    ),
    figure("a bulk plan, worst", most(bulk.map(({ ms }) => ms)), Number.POSITIVE_INFINITY, "CPU ms"),
    figure(
      "decisions that do not re-evaluate",
      outcomes.reduce((sum, { reEvaluated: [good, all] }) => sum + all - good, 0),
      0,
      "decisions",
    ),
  ];
}

function dimensions(seeds: number, write: Options["write"]): readonly Figure[] {
  const shapes: readonly (readonly [Omit<FleetShape, "seed">, number, number])[] = [
    [{ tail: "lognormal", workspaces: 10_000, instances: 50, utilisation: FIVE }, 500, seeds],
    [{ tail: "lognormal", workspaces: 10_000, instances: 500, utilisation: FIVE }, 500, Math.min(2, seeds)],
    [{ tail: "lognormal", workspaces: 100_000, instances: 500, utilisation: FIVE }, 3_000, 1],
  ];
  return shapes.flatMap(([shape, goalMs, runs]) => {
    const outcomes = seedsUpTo(runs).flatMap((seed) => runEvents({ ...shape, seed }, false));
    const conditions = `${shape.workspaces} workspaces on ${shape.instances}, five dimensions, ${runs} seeds`;
    write(`\n${conditions}: moves, % of load moved, max/mean, CPU ms; means\n${comparison(outcomes)}\n`);
    return eventFigures(outcomes, conditions, goalMs).filter(({ name }) => !name.includes("least"));
  });
}

function drift(seeds: number, write: Options["write"]): readonly Figure[] {
  return TAILS.flatMap((tail) => {
    const outcomes = seedsUpTo(seeds).map((seed) => {
      const outcome = runDrift({ ...DRIFT, tail, seed });
      write(`drift, ${tail}, seed ${seed}: ${driftLine(outcome)}\n`);
      return outcome;
    });
    const conditions = `35 days after 10, 10,000 workspaces on 50, ${tail}, 62 %, samples every 15 min, ${seeds} seeds`;
    const worst = (name: string, pick: (outcome: DriftOutcome) => number, goal: number, unit: string): Figure => ({
      name: `${name}, worst seed`,
      measured: most(outcomes.map(pick)),
      goal,
      unit,
      conditions,
    });
    return [
      worst("moves per workspace-year", (each) => each.perWorkspaceYear, 0.25, "moves"),
      worst("moved again within 24 h", (each) => each.movedAgain * 100, 0.1, "% of moves"),
      worst("load moved a day", (each) => each.loadPerDay * 100, 0.3, "% of load"),
      worst("load moved / least for few moves (ADR 0018)", (each) => each.overFew, 1.1, "ratio"),
      worst("load moved / least for what plans aim at", (each) => each.overTarget, Number.POSITIVE_INFINITY, "ratio"),
      worst("load moved / least for the bound alone", (each) => each.overBound, Number.POSITIVE_INFINITY, "ratio"),
      worst("least for few moves / least for what plans aim at", (each) => each.fewOverTarget, Number.POSITIVE_INFINITY, "ratio"),
      worst("instance-time above the bound by planning load", (each) => each.aboveBound * 100, Number.POSITIVE_INFINITY, "%"),
      worst("instance-time above 90 %", (each) => each.overloaded * 100, Number.POSITIVE_INFINITY, "%"),
      worst("decisions that do not re-evaluate", ({ reEvaluated: [good, all] }) => all - good, 0, "decisions"),
    ];
  });
}

function driftLine({ moves, perWorkspaceYear, movedAgain, loadPerDay, overTarget, overloaded, reEvaluated, plans }: DriftOutcome): string {
  const parts = [
    `${moves} moves in ${plans} plans`,
    `${number(perWorkspaceYear)} per workspace-year`,
    `${number(loadPerDay * 100)} % of load a day`,
  ];
  const rest = [
    `${number(movedAgain * 100)} % again within 24 h`,
    `${number(overTarget)} x least`,
    `${number(overloaded * 100)} % of time above 90 %`,
  ];
  return [...parts, ...rest, `${reEvaluated.join(" of ")} decisions re-evaluate`].join(", ");
}

function hot(seeds: number, write: Options["write"]): readonly Figure[] {
  const [open, shut] = [true, false].map((hasGate) => seedsUpTo(hasGate ? seeds : 1).map((seed) => runHot({ seed, hasGate })));
  for (const outcome of [...(open ?? []), ...(shut ?? [])]) write(`${JSON.stringify(outcome)}\n`);
  const conditions = `one tenant floods an instance to 130 %, 10,000 workspaces on 50, moves of 10 s, simulated time, ${seeds} seeds`;
  const seconds = (outcomes: typeof open): number =>
    most((outcomes ?? []).map(({ relievedSeconds = Number.POSITIVE_INFINITY }) => relievedSeconds));
  return [
    { name: "from verdict to relief, worst", measured: seconds(open), goal: 300, unit: "s", conditions },
    { name: "the same without the hot gate", measured: seconds(shut), goal: Number.POSITIVE_INFINITY, unit: "s", conditions },
    { name: "moves under way at once, most", measured: most((open ?? []).map(({ atOnce }) => atOnce)), goal: 4, unit: "moves", conditions },
  ];
}

function growth(write: Options["write"]): readonly Figure[] {
  const [open, shut] = [simulateGrowth(true), simulateGrowth(false)];
  write(`${JSON.stringify(open)}\n${JSON.stringify(shut)}\n`);
  const conditions = "a workspace grows from 1 to 1,000 applications in an hour on an instance at 70 %, simulated time";
  const minutes = ({ fullAt = Number.NaN, relievedAt = Number.POSITIVE_INFINITY }: typeof open): number => relievedAt - fullAt;
  return [
    { name: "from full to relief", measured: minutes(open), goal: 10, unit: "min", conditions },
    { name: "the same without the hot gate", measured: minutes(shut), goal: Number.POSITIVE_INFINITY, unit: "min", conditions },
  ];
}

function split(seeds: number, write: Options["write"]): readonly Figure[] {
  const outcomes = [[40, 4] as const, [40, 8] as const, [5, 4] as const].flatMap(([clusters, parts]) =>
    seedsUpTo(seeds).flatMap((seed) => runSplit(clusters, parts, seed)),
  );
  const groups = Map.groupBy(outcomes, ({ method, clusters, parts }) => `${method}: ${clusters} clusters, ${parts} parts`);
  const row = (name: string, those: readonly SplitOutcome[]): readonly string[] => [
    name,
    number(most(those.map(({ imbalance }) => imbalance))),
    number(most(those.map(({ cachedOverUnique }) => cachedOverUnique))),
    number(most(those.map(({ movedByOneMore }) => movedByOneMore))),
  ];
  write(`\nsplitting 2,000 applications, worst of ${seeds} seeds\n`);
  write(
    `${table([["", "heaviest/mean", "cached/unique", "moved by one part more"], ...[...groups].map(([name, those]) => row(name, those))])}\n`,
  );
  const judged = outcomes.filter(({ method, clusters, parts }) => method === "recorded deal" && clusters === 40 && parts === 4);
  const conditions = `2,000 applications on 40 clusters over 4 instances, ${seeds} seeds, worst`;
  const figure = (name: string, pick: (outcome: SplitOutcome) => number, goal: number): Figure => ({
    name,
    measured: most(judged.map(pick)),
    goal,
    unit: "ratio",
    conditions,
  });
  return [
    figure("heaviest part / mean", ({ imbalance }) => imbalance, 1.1),
    figure("cached / unique resources", ({ cachedOverUnique }) => cachedOverUnique, 1.25),
    figure("load moved by one part more", ({ movedByOneMore }) => movedByOneMore, 1.1 / 5),
  ];
}

/** `npm run bench -- placement`. Returns the exit code: 1 when a goal is missed. Throws `InputError` for unknown arguments. */
export function placementBench(args: readonly string[], write: Options["write"]): number {
  const { parts, seeds, help } = parsePlacementOptions(args);
  if (help) {
    write(PLACEMENT_HELP);
    return 0;
  }
  return run({ parts, seeds, write }).every(isMet) ? 0 : 1;
}
