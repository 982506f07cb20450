import { parseArgs } from "node:util";
import { InputError } from "../domain/errors.ts";

export interface SimulateOptions {
  readonly scenario: string;
  readonly seed: number;
  /** How many seeds, from `seed` on. */
  readonly seeds: number;
  /** Instead of a number of runs: the number of moves, from that seed on. */
  readonly moves: number | undefined;
  /** A file with parts of a long run; they are added up, and nothing is run. */
  readonly addUp: string | undefined;
  readonly output: "text" | "json";
  readonly isHunt: boolean;
  readonly help: boolean;
}

export interface ScenarioInfo {
  readonly name: string;
  readonly about: string;
  /** The finding that is still open under some of its seeds. */
  readonly open?: string | undefined;
}

/** How many hand-overs a long run makes by default. */
const MARATHON = 1_000;

export function renderHelp(scenarios: readonly ScenarioInfo[]): string {
  return `Usage: npm run simulate -- [options]   (or: npx argosy simulate [options])

Runs a fleet in this process, with a clock of its own and no cluster: Argosy's own code on models of the database, of API servers
and of Argo CD. The same seed gives the same run to the byte. Exit status 1 when a property did not hold.

  --scenario NAME   what happens (default: steady)
${scenarios.map(({ name, about, open }) => `      ${name.padEnd(20)} ${about}${open === undefined ? "" : ` Open: ${open}.`}`).join("\n")}
  --seed N          which of its runs (default: 1)
  --seeds N         so many runs, from that seed on (default: 1)
  --marathon        a long run of hand-overs: move-marathon, and 1000 of them, unless said otherwise. SIGTERM ends it after its present run
  --moves N         so many hand-overs, in as many runs as that takes. With -o json: one line, a part of a longer run
  --add-up FILE     instead: what such lines come to together, if they ran on the same code under other seeds each
  --hunt            instead: puts each deliberate bug in, and shows with which seed it is found
  -o text|json      a picture of the fleet, or everything that came of it (default: text)
  --help            this text
`;
}

/** Reads the arguments. Throws `InputError` for the first that makes no sense. */
export function parseSimulateOptions(args: readonly string[]): SimulateOptions {
  const { values } = parse(args);
  const { output } = values;
  if (output !== "text" && output !== "json") throw wrong("-o", output, "Give text or json");
  return {
    ...{
      scenario: values.scenario ?? (values.marathon ? "move-marathon" : "steady"),
      addUp: values["add-up"],
      output,
      isHunt: values.hunt,
      help: values.help,
    },
    seed: wholeNumber("--seed", values.seed),
    seeds: wholeNumber("--seeds", values.seeds),
    moves: values.moves === undefined ? (values.marathon ? MARATHON : undefined) : wholeNumber("--moves", values.moves),
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        scenario: { type: "string" },
        seed: { type: "string", default: "1" },
        seeds: { type: "string", default: "1" },
        moves: { type: "string" },
        marathon: { type: "boolean", default: false },
        "add-up": { type: "string" },
        output: { type: "string", short: "o", default: "text" },
        hunt: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    });
  } catch (cause) {
    throw new InputError(cause instanceof Error ? cause.message : "the arguments cannot be read", {
      code: "simulation.arguments",
      path: "arguments",
      remedy: "See --help",
      cause,
    });
  }
}

function wholeNumber(option: string, text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw wrong(option, text, "Give a whole number from 1 on");
  return Number(text);
}

function wrong(option: string, value: string, remedy: string): InputError {
  return new InputError(`${option} ${value} makes no sense`, { code: "simulation.arguments", path: option, remedy });
}
