import { parseArgs } from "node:util";
import { DEFAULT_STATE } from "../../src/cli/connection.ts";
import { InputError } from "../../src/domain/errors.ts";

export interface UpOptions {
  readonly state: string;
  readonly kubeconfig: string | undefined;
  /** Skips the question before anything is created on a cluster that was there already. */
  readonly yes: boolean;
  /** Takes a container engine and kind although Go is there. */
  readonly kind: boolean;
  readonly exitWhenReady: boolean;
  readonly detach: boolean;
  readonly help: boolean;
}

export const UP_HELP = `Usage: npm run up -- [options]

Starts a fleet with a database, a Kubernetes cluster, two Argo CD instances and three demo workspaces, and stays until
Ctrl-C, which stops everything it started and nothing else.

  --state DIR         where everything is kept (default: ${DEFAULT_STATE}); a second start with it is warm
  --kubeconfig FILE   use this cluster instead of starting one; shows what it would create and asks
  --yes               do not ask
  --kind              start a cluster with kind and a container engine, even where Go is installed
  --exit-when-ready   stop again once the demo workspaces are Synced and Healthy; exit code 0
  --detach            return once everything is ready; \`npm run down\` stops it
  --help              this text

DATABASE_URL names a PostgreSQL (15 or newer) to use instead of the embedded one.
`;

/** Parses the arguments after `npm run up --`. Throws `InputError` naming the argument and what is allowed. */
export function parseUpOptions(args: readonly string[]): UpOptions {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        state: { type: "string", default: DEFAULT_STATE },
        kubeconfig: { type: "string" },
        yes: { type: "boolean", default: false },
        kind: { type: "boolean", default: false },
        "exit-when-ready": { type: "boolean", default: false },
        detach: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    });
    const { state, kubeconfig, yes, kind, detach, help } = values;
    return { state, kubeconfig, yes, kind, detach, help, exitWhenReady: values["exit-when-ready"] };
  } catch (cause) {
    throw new InputError((cause as Error).message, {
      code: "up.options",
      path: "npm run up",
      remedy: "`npm run up -- --help` lists the options",
    });
  }
}
