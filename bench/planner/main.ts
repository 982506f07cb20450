import { parseArgs } from "node:util";
import { InputError } from "../../src/domain/errors.ts";
import { loadVector } from "../../src/domain/load.ts";
import type { PlanFacts } from "../../src/store/plan/port.ts";
import { loadNow, readConditions, renderConditions } from "../conditions.ts";
import { isMet, type SizedFigure } from "../figures.ts";
import { writeResult } from "../results.ts";
import { exponentOf } from "../scale/growth.ts";
import { renderTable } from "../table.ts";
import { type Taken, takenBy } from "./event-loop.ts";
import { factsOf, snapshotOfFacts } from "./fleet.ts";
import { waitingOn } from "./placements.ts";
import { planningOf, SITUATIONS } from "./plan-cycles.ts";

const HELP = `Usage: npm run bench -- planner [options]

How long planning and placement keep the event loop to themselves, and what they take, on made-up fleets of 200 units an instance in one process.
CPU is held against one bare pass over the units in the same run. No database: what is read and written is in memory. The last lines say how each figure
grows, as the exponent of the number of units. Ends with 1 when a goal is missed; goals are for a machine that has a core to spare.

  --units N,M       sizes, one after the other (default: 1000,10000,100000)
  --waiting N       units that wait for their first instance (default: 1000)
  --json FILE       write the result there too
  --help            this text
`;

/** Nobody else waits longer than this for a turn of the event loop, in ms. */
const LONGEST_BLOCK_MS = 100;
const SOME_LOAD = loadVector(() => 1_000);
/** The bare pass is measured so often, and the quickest counts. */
const PASSES = 5;

/** Runs the measure with these arguments and writes the result. Resolves with the exit code. */
export async function plannerBench(args: readonly string[], write: (text: string) => void): Promise<number> {
  const { units, waiting, json, help } = parse(args);
  if (help) {
    write(HELP);
    return 0;
  }
  const conditions = readConditions({ postgres: "none", kubernetes: "none", engine: "made up", processes: 1 });
  const figures: SizedFigure[] = [];
  for (const size of units) for await (const figure of measureAt(size, waiting)) figures.push({ ...figure, applications: size });
  const whole = { ...conditions, load: [...conditions.load, loadNow()] };
  const file = writeResult({ conditions: whole, options: { units, waiting }, figures }, json);
  const missed = figures.filter((figure) => isMet(figure) === false).length;
  write(`${renderConditions(whole)}\n\nThe first column is units.\n${renderTable(figures)}\n\n${renderGrowth(figures)}\n\n`);
  write(`${missed === 0 ? "Every goal that was measured is met." : `Goals missed: ${missed}.`} Written to ${file}\n`);
  return missed === 0 ? 0 : 1;
}

type Plain = Omit<SizedFigure, "applications">;

async function* measureAt(size: number, waiting: number): AsyncGenerator<Plain> {
  const quiet = factsOf(size);
  const limit = { what: "a bare pass", value: barePassMs(quiet) };
  for (const [name, situation] of Object.entries(SITUATIONS)) {
    const planning = planningOf(situation(quiet));
    await planning.cycle();
    yield* figuresOf(`cycle, ${name}`, await takenBy(planning.cycle), limit);
  }
  const planning = planningOf(quiet);
  const some = Math.max(1, Math.floor(quiet.instances.length / 50));
  for (const by of [some, -some])
    yield* figuresOf(`what if, instances ${by > 0 ? "more" : "fewer"}`, await takenBy(() => planning.whatIf(by)), limit);
  const roomy = snapshotOfFacts(quiet);
  const full = { ...roomy, instances: roomy.instances.map((each) => ({ ...each, instance: { ...each.instance, capacity: each.load } })) };
  for (const [name, fleet] of [
    ["full", full],
    ["with room", roomy],
  ] as const) {
    const placing = waitingOn(fleet, waiting, SOME_LOAD);
    const taken = await takenBy(placing.settle);
    yield* figuresOf(`${waiting} units wait, fleet ${name}`, taken, limit);
    yield count(`${waiting} units wait, fleet ${name}: times it was added up`, placing.asked.fleets);
    yield count(`${waiting} units wait, fleet ${name}: reads of units`, placing.asked.units + placing.asked.pages);
  }
}

function* figuresOf(what: string, { blockMs, cpuMs }: Taken, limit: NonNullable<Plain["limit"]>): Generator<Plain> {
  const figure = { measure: "planner", unit: "ms", better: "lower", noise: 0, samples: 1 } as const;
  yield { ...figure, what: `${what}: longest block`, value: blockMs, goal: { of: "value", sense: "at most", bound: LONGEST_BLOCK_MS } };
  yield { ...figure, what: `${what}: CPU`, value: cpuMs, limit };
}

function count(what: string, value: number): Plain {
  return { measure: "planner", what, unit: "", better: "lower", value, noise: 0, samples: 1 };
}

/** The least that any plan has to do: to add up what each instance has, in ms. */
function barePassMs({ instances, units }: PlanFacts): number {
  const times = Array.from({ length: PASSES }, () => {
    const began = performance.now();
    const index = new Map<string, number>(instances.map(({ id }, place) => [id, place]));
    const sums = new Float64Array(instances.length * 5);
    for (const { unit } of units) {
      const at = (index.get(unit.owner ?? "") ?? 0) * 5;
      const { applications, clusterEntries, cachedResources, milliCpu, gitPerMinute } = unit.load;
      for (const [place, amount] of [applications, clusterEntries, cachedResources, milliCpu, gitPerMinute].entries())
        sums[at + place] = (sums[at + place] as number) + amount;
    }
    return performance.now() - began;
  });
  return Math.min(...times);
}

function renderGrowth(figures: readonly SizedFigure[]): string {
  const lines = [...Map.groupBy(figures, ({ what }) => what)].flatMap(([name, of]) => {
    const exponent = exponentOf(of.map(({ applications, value }) => ({ applications, value })));
    return exponent === undefined ? [] : [`  ${name.padEnd(70)} ${exponent.toFixed(2)}`];
  });
  return lines.length === 0 ? "" : ["Growth, as the exponent of the number of units:", ...lines].join("\n");
}

const LARGEST = 1_000_000;

function parse(args: readonly string[]) {
  const text = { type: "string" } as const;
  const { values } = parseArgs({
    args: [...args],
    options: { units: text, waiting: text, json: text, help: { type: "boolean", default: false } },
  });
  const whole = (name: string, given: string): number => {
    const value = Number(given);
    if (Number.isInteger(value) && value >= 1 && value <= LARGEST) return value;
    throw new InputError(`is no whole number from 1 to ${LARGEST}`, { code: "cli.option", path: `--${name}`, remedy: "Give one" });
  };
  const units = (values.units ?? "1000,10000,100000").split(",").map((each) => whole("units", each));
  return { units, waiting: whole("waiting", values.waiting ?? "1000"), json: values.json, help: values.help };
}
