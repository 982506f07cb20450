import { parseArgs } from "node:util";
import { DEFAULT_STATE } from "../../src/cli/connection.ts";
import { InputError } from "../../src/domain/errors.ts";

export interface UpOptions {
  readonly state: string;
  readonly kubeconfig: string | undefined;
  /** Skips the question before anything is created on an existing cluster. */
  readonly yes: boolean;
  /** Uses a container engine and kind even if Go is installed. */
  readonly kind: boolean;
  /** Whether pods are containers of a real node, where the cluster is built here. */
  readonly realNode: boolean;
  readonly exitWhenReady: boolean;
  readonly detach: boolean;
  readonly help: boolean;
}

export const UP_HELP = `Usage: npm run up -- [options]

Starts a fleet with a database, a Kubernetes cluster, two Argo CD instances and three demo workspaces, and stays until
Ctrl-C, which stops everything it started and nothing else. What ends by itself is started again. On a state that holds a fleet
already, what was declared there stays.

  --state DIR         where everything is kept (default: ${DEFAULT_STATE}); a second start with it is warm
  --kubeconfig FILE   use this cluster instead of starting one; shows what it would create and asks
  --yes               do not ask
  --kind              start a cluster with kind and a container engine, even where Go is installed
  --node KIND         what pods become on a cluster that is built here: processes of this machine (processes, the default), or
                      containers (real: kubelet and containerd; needs root, and installs the Debian packages that are missing)
  --exit-when-ready   stop again once the demo workspaces are Synced and Healthy; exit code 0
  --detach            return once everything is ready; \`npm run down\` stops it
  --help              this text

DATABASE_URL names a PostgreSQL (15 or newer) to use instead of the embedded one.
`;

export interface DownOptions {
  readonly state: string;
  readonly help: boolean;
}

export const DOWN_HELP = `Usage: npm run down -- [--state DIR]

Stops the fleet that \`npm run up\` started with that state directory (default: ${DEFAULT_STATE}), or what is left of one whose
process was killed. Its data stays, so that the next start is warm.
`;

const STATE = { type: "string", default: DEFAULT_STATE } as const;
const NODES: readonly string[] = ["processes", "real"];
const FLAG = { type: "boolean", default: false } as const;

/** Parses the arguments after `npm run up --`. Throws `InputError` with the argument and what is allowed. */
export function parseUpOptions(args: readonly string[]): UpOptions {
  const options = {
    state: STATE,
    kubeconfig: { type: "string" },
    node: { type: "string" },
    ...{ yes: FLAG, kind: FLAG, "exit-when-ready": FLAG, detach: FLAG, help: FLAG },
  } as const;
  const values = parsed("up", () => parseArgs({ args: [...args], options }).values);
  const { state, kubeconfig, yes, kind, node, detach, help, "exit-when-ready": exitWhenReady } = values;
  if (kubeconfig !== undefined && kind) throw refusal("up", "--kubeconfig and --kind exclude each other");
  if (node !== undefined && (kind || kubeconfig !== undefined))
    throw refusal("up", `--node and ${kind ? "--kind" : "--kubeconfig"} exclude each other`);
  if (detach && exitWhenReady) throw refusal("up", "--detach and --exit-when-ready exclude each other");
  for (const [name, value] of Object.entries({ state, kubeconfig, node })) if (value === "") throw refusal("up", `--${name} is empty`);
  if (node !== undefined && !NODES.includes(node)) throw refusal("up", `--node ${node} is none of ${NODES.join(", ")}`);
  return { state, kubeconfig, yes, kind, realNode: node === "real", detach, help, exitWhenReady };
}

/** Parses the arguments after `npm run down --`. Throws `InputError` as above. */
export function parseDownOptions(args: readonly string[]): DownOptions {
  const { state, help } = parsed("down", () => parseArgs({ args: [...args], options: { state: STATE, help: FLAG } }).values);
  if (state === "") throw refusal("down", "--state is empty");
  return { state, help };
}

function parsed<T>(command: string, parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    throw refusal(command, (cause as Error).message.replace(/\.$/, ""), cause);
  }
}

function refusal(command: string, what: string, cause?: unknown): InputError {
  const remedy = `\`npm run ${command} -- --help\` lists the options`;
  return new InputError(what, { code: "up.options", path: `npm run ${command}`, remedy, ...(cause === undefined ? {} : { cause }) });
}
