import { parseArgs } from "node:util";
import { InputError } from "../../src/domain/errors.ts";

export interface ScaleOptions {
  /** Numbers of applications to measure at, ascending. */
  readonly applications: readonly number[];
  /** Workspaces at the largest size. At a smaller one there are as many times fewer. */
  readonly workspaces: number;
  readonly instances: number;
  /** Numbers of Argosy processes, each measured on a fleet of its own. */
  readonly replicas: readonly number[];
  /** How many objects an application's status lists; applications take turns. */
  readonly resources: readonly number[];
  readonly idleSeconds: number;
  /** Deployments that are created one after the other at each size. */
  readonly creations: number;
  readonly json: string | undefined;
  readonly profile: string | undefined;
  readonly keep: boolean;
  readonly help: boolean;
}

/** Applications of one workspace where `--workspaces` does not say. */
const APPLICATIONS_OF_WORKSPACE = 2.5;
const DEFAULTS = { applications: "1000,5000", instances: "50", replicas: "1", resources: "1,10,30", idle: "60", creations: "60" } as const;
const LARGEST = 100_000;

export const SCALE_HELP = `Usage: npm run bench -- scale [options]

What Argosy costs as a fleet grows, on a Kubernetes API server, a PostgreSQL and Argosy processes started for it, with an engine that writes what
Argo CD's controllers write. At each size: filling, idleness, creations, one Argosy process killed. CPU is shown process by process, so that what
Argosy adds can be told from what the engine and the API server do without it. At the end, how each figure grows: the exponent of the number of applications.

  --applications N,M  sizes to measure at, one after the other (default: ${DEFAULTS.applications})
  --workspaces N      at the largest size (default: one for every ${APPLICATIONS_OF_WORKSPACE} applications)
  --instances N       (default: ${DEFAULTS.instances})
  --replicas N,M      Argosy processes; each number gets a fleet of its own (default: ${DEFAULTS.replicas})
  --resources N,M     objects that an application's status lists; applications take turns (default: ${DEFAULTS.resources})
  --idle SECONDS      how long idleness is watched (default: ${DEFAULTS.idle})
  --creations N       deployments created one after the other (default: ${DEFAULTS.creations})
  --json FILE         write the result there too
  --profile DIR       write CPU profiles of the Argosy processes there
  --keep              leave the state directory with the logs behind
  --help              this text

25,000 applications take about an hour and 12 GiB.
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
    resources: list("resources", values.resources ?? DEFAULTS.resources),
    idleSeconds: whole("idle", values.idle ?? DEFAULTS.idle),
    creations: whole("creations", values.creations ?? DEFAULTS.creations),
    ...{ json: values.json, profile: values.profile, keep: values.keep, help: values.help },
  };
}

function parsed(args: readonly string[]) {
  const numbers = { applications: TEXT, workspaces: TEXT, instances: TEXT, replicas: TEXT, resources: TEXT, idle: TEXT, creations: TEXT };
  try {
    return parseArgs({ args: [...args], options: { ...numbers, json: TEXT, profile: TEXT, keep: FLAG, help: FLAG } }).values;
  } catch (cause) {
    throw refusal((cause as Error).message.replace(/\.$/, ""), cause);
  }
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
