import { parseArgs } from "node:util";
import { InputError } from "../src/domain/errors.ts";

export type EngineKind = "scripted" | "argo-cd";

export interface BenchOptions {
  /** Names of the measures to run. */
  readonly names: readonly string[];
  /** Numbers of applications during the measures, ascending. */
  readonly applications: readonly number[];
  /** Changed statuses per second. */
  readonly rate: number;
  /** Deployments created at once. */
  readonly burst: number;
  /** Deployments the noisy workspace creates at once. */
  readonly noise: number;
  /** Deployments the noisy workspace of the flood creates at once. */
  readonly flood: number;
  /** `limits.unfinishedApplications` of the Argosy processes; their default if absent. */
  readonly unfinished: number | undefined;
  readonly idleSeconds: number;
  /** Number of Argosy processes. */
  readonly processes: number;
  readonly engine: EngineKind;
  /** A file to write the result to as well. */
  readonly json: string | undefined;
  /** What to compare with: a file, or `latest` for the newest kept result. */
  readonly compare: string | undefined;
  /** Folder for CPU profiles of the Argosy processes. */
  readonly profile: string | undefined;
  readonly keep: boolean;
  readonly help: boolean;
}

export interface MeasureInfo {
  readonly name: string;
  readonly about: string;
}

const DEFAULTS = { applications: "200", rate: "200", burst: "300", noise: "300", flood: "10000", idle: "60", processes: "1" } as const;

export function renderHelp(measures: readonly MeasureInfo[]): string {
  return `Usage: npm run bench -- [names] [options]
       npm run bench -- placement [parts] [options]   where workspaces go; see npm run bench -- placement --help
       npm run bench -- planner [options]             how long planning blocks others; see npm run bench -- planner --help
       npm run bench -- moves [options]               what hand-overs take; see npm run bench -- moves --help
       npm run bench -- scale [options]               how costs grow with the fleet; see npm run bench -- scale --help

Measures what Argosy itself costs, on a Kubernetes API server, a PostgreSQL and Argosy processes started for it, together with
the limit of the same machine at the same time. Prints a table, and writes it as JSON to bench/results/.

${measures.map(({ name, about }) => `  ${name.padEnd(4)} ${about}`).join("\n")}

  --applications N,M   sizes to measure at, one after the other (default: ${DEFAULTS.applications})
  --rate N             changed statuses a second, P2 (default: ${DEFAULTS.rate})
  --burst N            deployments created at once, P1b (default: ${DEFAULTS.burst})
  --noise N            deployments the noisy neighbour creates at once, P9 (default: ${DEFAULTS.noise})
  --flood N            deployments the noisy neighbour creates at once, P9b (default: ${DEFAULTS.flood})
  --unfinished N       limits.unfinishedApplications of Argosy; 0 holds nothing back (default: Argosy's)
  --idle SECONDS       how long idleness is watched, P5 (default: ${DEFAULTS.idle})
  --processes N        Argosy processes, each with all roles (default: ${DEFAULTS.processes})
  --engine KIND        scripted: a program that writes Application.status the way Argo CD does (default); argo-cd: the real one
  --json FILE          write the result there too
  --compare [FILE]     hold it against that result, or the latest in bench/results/; exit code 1 when something got worse by
                       more than noise: 15 %, or three standard errors of the two runs' repeats if that is more
  --profile DIR        write CPU profiles of the Argosy processes there (their end, a stop, is part of them)
  --keep               leave the state directory with the logs behind
  --help               this text
`;
}

const TEXT = { type: "string" } as const;
const FLAG = { type: "boolean", default: false } as const;
const OPTIONS = {
  applications: { type: "string", default: DEFAULTS.applications },
  rate: { type: "string", default: DEFAULTS.rate },
  burst: { type: "string", default: DEFAULTS.burst },
  noise: { type: "string", default: DEFAULTS.noise },
  flood: { type: "string", default: DEFAULTS.flood },
  unfinished: TEXT,
  idle: { type: "string", default: DEFAULTS.idle },
  processes: { type: "string", default: DEFAULTS.processes },
  engine: { type: "string", default: "scripted" },
  ...{ json: TEXT, compare: TEXT, profile: TEXT, keep: FLAG, help: FLAG },
} as const;

/** Parses the arguments after `npm run bench --`. Throws `InputError` with the argument and what is allowed. */
export function parseBenchOptions(args: readonly string[], measures: readonly MeasureInfo[]): BenchOptions {
  const { values, positionals } = parsed(withCompared(args));
  const known = measures.map(({ name }) => name);
  const names = positionals.map((name) => known.find((each) => each.toLowerCase() === name.toLowerCase()) ?? unknown(name, known));
  if (values.engine !== "scripted" && values.engine !== "argo-cd") throw refusal(`--engine is ${values.engine}, not scripted or argo-cd`);
  const sizes = values.applications.split(",").map((text) => whole("applications", text));
  return {
    names: names.length === 0 ? known : known.filter((name) => names.includes(name)),
    applications: [...new Set(sizes)].sort((a, b) => a - b),
    rate: whole("rate", values.rate),
    burst: whole("burst", values.burst),
    noise: whole("noise", values.noise),
    flood: whole("flood", values.flood),
    unfinished: values.unfinished === undefined ? undefined : whole("unfinished", values.unfinished, 0),
    idleSeconds: whole("idle", values.idle),
    processes: whole("processes", values.processes),
    engine: values.engine,
    ...{ json: values.json, compare: values.compare, profile: values.profile, keep: values.keep, help: values.help },
  };
}

/** `--compare` may be given without a file. */
export function withCompared(args: readonly string[]): readonly string[] {
  return args.flatMap((arg, index) => {
    const next = args[index + 1];
    return arg === "--compare" && (next === undefined || next.startsWith("-")) ? ["--compare", "latest"] : [arg];
  });
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (cause) {
    throw refusal((cause as Error).message.replace(/\.$/, ""), cause);
  }
}

const LARGEST = 100_000;

function whole(name: string, text: string, least = 1): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= least && number <= LARGEST) return number;
  throw refusal(`--${name} is ${text}, not a number from ${least} to ${LARGEST}`);
}

function unknown(name: string, known: readonly string[]): never {
  throw refusal(`${name} is no measure: use ${known.join(", ")}`);
}

function refusal(what: string, cause?: unknown): InputError {
  const remedy = "`npm run bench -- --help` lists the options";
  return new InputError(what, { code: "bench.options", path: "npm run bench", remedy, ...(cause === undefined ? {} : { cause }) });
}
