import { parseArgs } from "node:util";
import { InputError } from "../../src/domain/errors.ts";
import { withCompared } from "../options.ts";

/** What is measured at each size with each number of processes, in this order. */
export const PARTS_OF_SCALE = ["idle", "latencies", "kill", "rolling"] as const;
export type PartOfScale = (typeof PARTS_OF_SCALE)[number];

export interface ScaleOptions {
  /** Numbers of applications to measure at, ascending. */
  readonly applications: readonly number[];
  /** Workspaces at the largest size. At a smaller one there are as many times fewer. */
  readonly workspaces: number;
  readonly instances: number;
  /** Numbers of Argosy processes, ascending; each is started anew at each size. The first one fills. */
  readonly replicas: readonly number[];
  readonly only: readonly PartOfScale[];
  /** How many objects an application's status lists; applications take turns. */
  readonly resources: readonly number[];
  /** Syncs that an application's status remembers. */
  readonly history: number;
  /** `engine.reconciliationSeconds` of the pools, which the engine goes by too. */
  readonly reconciliationSeconds: number;
  /** `limits.repositoryProbes` of the Argosy processes. */
  readonly probes: number;
  readonly idleSeconds: number;
  /** Deployments that are created, and statuses that are changed, one after the other. */
  readonly creations: number;
  readonly output: "table" | "json";
  readonly json: string | undefined;
  /** What to compare with: a file, or `latest`. */
  readonly compare: string | undefined;
  readonly profile: string | undefined;
  readonly keep: boolean;
  readonly help: boolean;
}

/** Applications of one workspace where `--workspaces` does not say. */
const APPLICATIONS_OF_WORKSPACE = 2.5;
const DEFAULTS = {
  ...{ applications: "1000,5000,12000,25000", instances: "50", replicas: "1,4", resources: "1,10,30", history: "5", reconciliation: "120" },
  ...{ probes: "32", idle: "60", creations: "60" },
} as const;
const LARGEST = 100_000;

export const SCALE_HELP = `Usage: npm run bench -- scale [options]

What Argosy costs as a fleet grows, on a Kubernetes API server, a PostgreSQL and Argosy processes started for it, with an engine that writes what
Argo CD's controllers write. One fleet is filled step by step. At each size the world is watched without Argosy; then Argosy is started anew with each
number of processes, and measured: at rest, one change after the other, one process killed, all processes replaced. Each figure is held against the
smallest size, against one process, or against a fixed limit; the last lines say how it grows, as the exponent of the number of applications.

  --applications N,M  sizes to measure at, one after the other (default: ${DEFAULTS.applications})
  --workspaces N      at the largest size (default: one for every ${APPLICATIONS_OF_WORKSPACE} applications)
  --instances N       (default: ${DEFAULTS.instances})
  --replicas N,M      numbers of Argosy processes; the first one fills (default: ${DEFAULTS.replicas})
  --only PART,PART    of ${PARTS_OF_SCALE.join(", ")} (default: all; rolling takes at least two processes)
  --resources N,M     objects that an application's status lists; applications take turns (default: ${DEFAULTS.resources})
  --history N         syncs that it remembers (default: ${DEFAULTS.history}, what Argosy has Argo CD remember)
  --reconciliation S  engine.reconciliationSeconds of the pools, in s (default: ${DEFAULTS.reconciliation}). The engine compares each application half a minute later in the
                      middle, which is a write: with 12,000 applications that takes more than one core of the API server
  --probes N          limits.repositoryProbes of Argosy: each new workspace's repository is read before anything is deployed, four at a time by
                      Argosy's default, and filling would measure that (default: ${DEFAULTS.probes})
  --idle SECONDS      how long idleness is watched (default: ${DEFAULTS.idle})
  --creations N       deployments created and statuses changed one after the other (default: ${DEFAULTS.creations})
  -o, --output json   print the result as JSON; progress goes to standard error
  --json FILE         write the result there too
  --compare [FILE]    hold it against that result, or the latest in bench/results/; exit code 1 when something got worse by more than noise
  --profile DIR       write CPU profiles of the Argosy processes there
  --keep              leave the state directory with the logs behind
  --help              this text

What was measured is in bench/results/ after each part, and stays there when the run is stopped. The default run is meant to take less than 75 minutes
on a quiet machine, and 12 GiB.
`;

const TEXT = { type: "string" } as const;
const FLAG = { type: "boolean", default: false } as const;

/** Parses the arguments after `npm run bench -- scale`. Throws `InputError` with the argument and what is allowed. */
export function parseScaleOptions(args: readonly string[]): ScaleOptions {
  const values = parsed(args);
  const applications = list("applications", values.applications ?? DEFAULTS.applications);
  const largest = applications.at(-1) ?? 1;
  return {
    applications,
    workspaces: values.workspaces === undefined ? Math.ceil(largest / APPLICATIONS_OF_WORKSPACE) : whole("workspaces", values.workspaces),
    instances: whole("instances", values.instances ?? DEFAULTS.instances),
    replicas: list("replicas", values.replicas ?? DEFAULTS.replicas),
    only: partsOf(values.only ?? PARTS_OF_SCALE.join(",")),
    resources: list("resources", values.resources ?? DEFAULTS.resources),
    history: whole("history", values.history ?? DEFAULTS.history),
    reconciliationSeconds: whole("reconciliation", values.reconciliation ?? DEFAULTS.reconciliation),
    probes: whole("probes", values.probes ?? DEFAULTS.probes),
    idleSeconds: whole("idle", values.idle ?? DEFAULTS.idle),
    creations: whole("creations", values.creations ?? DEFAULTS.creations),
    output: outputOf(values.output ?? "table"),
    ...{ json: values.json, compare: values.compare, profile: values.profile, keep: values.keep, help: values.help },
  };
}

const OPTIONS = {
  ...{
    applications: TEXT,
    workspaces: TEXT,
    instances: TEXT,
    replicas: TEXT,
    resources: TEXT,
    history: TEXT,
    probes: TEXT,
    idle: TEXT,
    reconciliation: TEXT,
  },
  ...{ creations: TEXT, only: TEXT, json: TEXT, compare: TEXT, profile: TEXT, keep: FLAG, help: FLAG },
  output: { type: "string", short: "o" },
} as const;

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...withCompared(args)], options: OPTIONS }).values;
  } catch (cause) {
    throw refusal((cause as Error).message.replace(/\.$/, ""), cause);
  }
}

function partsOf(text: string): readonly PartOfScale[] {
  const names = text.split(",");
  const unknown = names.find((name) => !PARTS_OF_SCALE.some((each) => each === name));
  if (unknown !== undefined) throw refusal(`--only is ${unknown}, not one of ${PARTS_OF_SCALE.join(", ")}`);
  return PARTS_OF_SCALE.filter((each) => names.includes(each));
}

function outputOf(text: string): "table" | "json" {
  if (text === "table" || text === "json") return text;
  throw refusal(`--output is ${text}, not table or json`);
}

function list(name: string, text: string): readonly number[] {
  return [...new Set(text.split(",").map((each) => whole(name, each)))].sort((a, b) => a - b);
}

function whole(name: string, text: string): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= 1 && number <= LARGEST) return number;
  throw refusal(`--${name} is ${text}, not a number from 1 to ${LARGEST}`);
}

function refusal(what: string, cause?: unknown): InputError {
  const remedy = "`npm run bench -- scale --help` lists the options";
  return new InputError(what, { code: "bench.options", path: "npm run bench", remedy, ...(cause === undefined ? {} : { cause }) });
}
