import type { Fault } from "../hack/dev-cluster/fault-proxy.ts";
import type { Watching } from "./gate/turnstile.ts";

/** How a story reaches the harness, which runs in the process that vitest's global setup started. */
export interface HarnessAddress {
  readonly url: string;
  readonly adminKubeconfig: string;
  readonly gitUrl: string;
  /** The same over TLS, with an authority of its own, for repositories that ask for credentials. */
  readonly privateGitUrl: string;
  /** Those over SSH. */
  readonly privateSshUrl: string;
  readonly databaseUrl: string;
  readonly argosyUrls: readonly string[];
  readonly token: string;
  /** What the fleet was declared as; a story that declares another puts this back. */
  readonly fleetDocument: Readonly<Record<string, unknown>>;
}

/** Ways that can be disturbed: of both control planes to the API cluster, to the engine cluster and to the database. */
export type Way = "api" | "engine" | "database";

export interface HarnessCalls {
  readonly commit: { readonly repository: string; readonly files: Readonly<Record<string, string | undefined>> };
  /** Input of `git fast-import --force` for a repository: branches, tags, links, rewritten history. */
  readonly importGit: { readonly repository: string; readonly stream: string };
  readonly commitPrivate: { readonly repository: string; readonly files: Readonly<Record<string, string | undefined>> };
  /** How late requests for each of these repositories are answered from now on. */
  readonly delayGit: { readonly repositories: readonly string[]; readonly delayMs: number };
  /** Requests for the repository are answered with this status from now on; well again without one. */
  readonly failGit: { readonly repository: string; readonly status?: number };
  /** From now on the repository asks for these. */
  readonly protect: { readonly repository: string; readonly username: string; readonly password: string };
  /** A new private key that may read over SSH. */
  readonly issueSshKey: Record<string, never>;
  /** A test made a secret: from now on nobody may say it. */
  readonly keepSecret: { readonly what: string; readonly value: string };
  readonly killArgosy: { readonly index: number };
  /** With other limits and leases than the default ones, if any are given, until it is started the next time. */
  readonly startArgosy: {
    readonly index: number;
    readonly limits?: Readonly<Record<string, number>>;
    readonly leases?: Readonly<Record<string, number>>;
    readonly roles?: readonly string[];
    readonly health?: Readonly<Record<string, unknown>>;
  };
  /** Leads all control planes through gates, and counts what they write about this from now on; whoever comes to the point dies there. */
  readonly watchWrites: Watching;
  /** What was counted, and who died. */
  readonly writesSeen: Record<string, never>;
  /** Leads the control planes their straight ways again. */
  readonly closeGates: Record<string, never>;
  /** Path of a control plane process's configuration file. */
  readonly configOf: { readonly index: number };
  /** Id under which a control plane process is a member. */
  readonly memberOf: { readonly index: number };
  readonly disturb: { readonly way: Way; readonly fault: Fault };
  readonly restore: { readonly way: Way };
  /** The API server ends and starts again, and has forgotten all history: whoever watched from before has to list. */
  readonly restartApiServer: Record<string, never>;
  /** PostgreSQL ends, and starts again on the same data and port. */
  readonly stopDatabase: Record<string, never>;
  readonly startDatabase: Record<string, never>;
  /** Sets the wall clock of a control plane process this far from the machine's. */
  readonly setClock: { readonly index: number; readonly aheadMs: number };
  /** Kills a container's process; returns how many there were. */
  readonly killContainer: { readonly namespace: string; readonly container: string };
  /** Lines a running container has said that contain this text. */
  readonly saidBy: { readonly namespace: string; readonly container: string; readonly containing: string };
  /** The same of all control plane processes, from their first start on. */
  readonly saidByArgosy: { readonly containing: string };
}

/** Asks the harness to do something that only the process owning the parts can do. */
export async function callHarness<Name extends keyof HarnessCalls>(
  harness: Pick<HarnessAddress, "url">,
  name: Name,
  args: HarnessCalls[Name],
): Promise<unknown> {
  // JSON has no `undefined`; null says that a file is to be removed.
  const body = JSON.stringify(args, (_key, value: unknown) => (value === undefined ? null : value));
  const response = await fetch(`${harness.url}/${name}`, { method: "POST", body });
  const answer = (await response.json()) as { readonly result?: unknown; readonly error?: string };
  if (answer.error !== undefined) throw new Error(answer.error);
  return answer.result;
}

declare module "vitest" {
  interface ProvidedContext {
    harness: HarnessAddress;
  }
}
