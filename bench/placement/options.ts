import { parseArgs } from "node:util";
import { InputError } from "../../src/domain/errors.ts";

export const PARTS = ["determinism", "events", "dimensions", "drift", "hot", "growth", "split"] as const;
export type Part = (typeof PARTS)[number];

export interface PlacementOptions {
  /** What is measured, in the order of {@link PARTS}. */
  readonly parts: readonly Part[];
  /** How many fleets of each kind, seeded 1, 2, 3 … */
  readonly seeds: number;
  readonly help: boolean;
}

const MOST_SEEDS = 100;

export const PLACEMENT_HELP = `Usage: npm run bench -- placement [parts] [options]

Measures placement on synthetic fleets in this one process: against its goals, and against a plain ring, bounded loads as Argo CD
deals its clusters, two choices and everything anew, on the same fleets. Ends with 1 when a goal is missed.

  determinism  one plan for a thousand orders of the same rows, and in another process
  events       a bulk plan, an instance more, one less, a hot one, drifted loads; lognormal and Zipf, 50 and 500 instances
  dimensions   the same with five dimensions of load, up to 100,000 workspaces
  drift        35 days of wandering load: moves, load moved, decisions that are asked again
  hot          a workspace floods its instance within a minute
  growth       a workspace grows from 1 to 1,000 applications within an hour
  split        a workspace of 2,000 applications over several instances

  --seeds N    fleets of each kind (default: 5)
  --help       this text
`;

/** Parses the arguments after `npm run bench -- placement`. Throws `InputError` with the argument and what is allowed. */
export function parsePlacementOptions(args: readonly string[]): PlacementOptions {
  const { values, positionals } = parsed(args);
  const unknown = positionals.find((name) => !PARTS.includes(name as Part));
  if (unknown !== undefined) throw refusal(`${unknown} is no part: use ${PARTS.join(", ")}`);
  const seeds = Number(values.seeds);
  if (!/^\d+$/.test(values.seeds) || seeds < 1 || seeds > MOST_SEEDS)
    throw refusal(`--seeds is ${values.seeds}, not a number from 1 to ${MOST_SEEDS}`);
  return { parts: positionals.length === 0 ? PARTS : PARTS.filter((part) => positionals.includes(part)), seeds, help: values.help };
}

function parsed(args: readonly string[]) {
  try {
    const options = { seeds: { type: "string", default: "5" }, help: { type: "boolean", default: false } } as const;
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (cause) {
    throw refusal((cause as Error).message.replace(/\.$/, ""), cause);
  }
}

function refusal(what: string, cause?: unknown): InputError {
  const remedy = "`npm run bench -- placement --help` lists the options";
  return new InputError(what, { code: "bench.options", path: "npm run bench", remedy, ...(cause === undefined ? {} : { cause }) });
}
