import { parseArgs } from "node:util";
import { InputError } from "../../src/domain/errors.ts";
import { fenceTimeMs } from "../../src/mover/proof.ts";
import { loadNow, readConditions, renderConditions } from "../conditions.ts";
import { type Figure, isMet } from "../figures.ts";
import { writeResult } from "../results.ts";
import { percentile } from "../statistics.ts";
import { renderTable } from "../table.ts";
import { evacuate } from "./evacuation.ts";
import { managersMs, mostAtOnce, timesOf, wallMs } from "./times.ts";

const HELP = `Usage: npm run bench -- moves [options]

Empties one instance of a simulated fleet into four others, as an evacuation, on the fleet's own clock, and shows what hand-overs take.
Instances compare in 50 to 500 ms. Ends with 1 when a goal is missed.

  --units N    workspaces that are moved, each with one deployment (default: 300)
  --seed N     of the simulated fleet (default: 1)
  --json FILE  write the result there too
  --help       this text
`;

const TARGETS = 4;
const ENGINE_MS = [50, 500] as const;
const MOST_UNITS = 2_000;
const MOST_SEED = 1_000_000;
const S = 1_000;

/** Runs the measure with these arguments and writes the result. Returns the exit code. */
export async function movesBench(args: readonly string[], write: (text: string) => void): Promise<number> {
  const { units, seed, json, help } = parse(args);
  if (help) {
    write(HELP);
    return 0;
  }
  const conditions = readConditions({ postgres: "simulated", kubernetes: "simulated", engine: "simulated", processes: 2 });
  const figures = (await measure(units, seed)).map((figure) => ({ ...figure, applications: units }));
  const whole = { ...conditions, load: [...conditions.load, loadNow()] };
  const file = writeResult({ conditions: whole, options: { units, seed }, figures }, json);
  const missed = figures.filter((figure) => isMet(figure) === false).length;
  write(`${renderConditions(whole)}\n\n${renderTable(figures)}\n\n`);
  write(`${missed === 0 ? "Every goal that was measured is met." : `Goals missed: ${missed}.`} Written to ${file}\n`);
  return missed === 0 ? 0 : 1;
}

async function measure(units: number, seed: number): Promise<readonly Figure[]> {
  const times = timesOf(await evacuate({ units, seed, targets: TARGETS, engineMs: ENGINE_MS }), fenceTimeMs(true));
  const of = (what: string, value: number, more: Partial<Figure> = {}): Figure => ({
    ...{ measure: "moves", what, unit: "s", better: "lower", value, noise: 0, samples: times.length },
    ...more,
  });
  const spread = (what: string, samples: readonly number[], more: Partial<Figure> = {}): Figure =>
    of(what, percentile(samples, 0.5) / S, { p99: percentile(samples, 0.99) / S, ...more });
  const most = (bound: number): Partial<Figure> => ({ goal: { of: "value", sense: "at most", bound } });
  const gaps = times.map(({ gapMs }) => gapMs);
  return [
    of("units that were handed over", times.length, {
      unit: "units",
      better: "higher",
      goal: { of: "value", sense: "at least", bound: units },
    }),
    of("most at once", mostAtOnce(times), { unit: "moves", better: "higher" }),
    of("from the first beginning to the last end", wallMs(times) / S, most((90 * units) / 300)),
    of("of that neither fence nor engine", managersMs(times) / S, most((28 * units) / 300)),
    spread(
      "one move",
      times.map(({ beganAt, endedAt }) => endedAt - beganAt),
      most(8),
    ),
    spread(
      "its waiting for the engine",
      times.map(({ engineMs }) => engineMs),
    ),
    spread("gap without an owner at work", gaps, most(4.5)),
    of("gap, 99th percentile", percentile(gaps, 0.99) / S, most(10)),
    of("gap, longest", percentile(gaps, 1) / S),
  ];
}

const OPTIONS = {
  units: { type: "string", default: "300" },
  seed: { type: "string", default: "1" },
  json: { type: "string" },
  help: { type: "boolean", default: false },
} as const;

function parse(args: readonly string[]) {
  const { values } = parsed(args);
  return {
    help: values.help,
    json: values.json,
    units: whole("units", values.units, MOST_UNITS),
    seed: whole("seed", values.seed, MOST_SEED),
  };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS });
  } catch (cause) {
    throw refusal((cause as Error).message.replace(/\.$/, ""), cause);
  }
}

function whole(name: string, text: string, most: number): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= 1 && number <= most) return number;
  throw refusal(`--${name} is ${text}, not a number from 1 to ${most}`);
}

function refusal(what: string, cause?: unknown): InputError {
  const remedy = "`npm run bench -- moves --help` lists the options";
  return new InputError(what, { code: "bench.options", path: "npm run bench", remedy, ...(cause === undefined ? {} : { cause }) });
}
