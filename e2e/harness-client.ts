import type { Fault } from "../hack/dev-cluster/fault-proxy.ts";
import type { Watching } from "./gate/turnstile.ts";

/** How a story calls the harness, which runs in the process of vitest's global setup. */
export interface HarnessAddress {
  readonly url: string;
  readonly adminKubeconfig: string;
  readonly gitUrl: string;
  /** The same over TLS with its own authority, for repositories that require credentials. */
  readonly privateGitUrl: string;
  /** The same over SSH. */
  readonly privateSshUrl: string;
  readonly databaseUrl: string;
  readonly argosyUrls: readonly string[];
  readonly token: string;
  /** Of somebody else, who approves. */
  readonly approverToken: string;
  /** The fleet as it was declared. A story that declares another one restores this. */
  readonly fleetDocument: Readonly<Record<string, unknown>>;
}

/** Connections that can be disturbed: those of both control planes to the API cluster, the engine cluster and the database. */
export type Way = "api" | "engine" | "database";

export interface HarnessCalls {
  readonly commit: { readonly repository: string; readonly files: Readonly<Record<string, string | undefined>> };
  /** Runs `git fast-import --force` in a repository with this input: branches, tags, links, rewritten history. */
  readonly importGit: { readonly repository: string; readonly stream: string };
  readonly commitPrivate: { readonly repository: string; readonly files: Readonly<Record<string, string | undefined>> };
  /** Delays the answers to requests for each of these repositories from now on. */
  readonly delayGit: { readonly repositories: readonly string[]; readonly delayMs: number };
  /** Answers requests for the repository with this status from now on. Without a status: as usual again. */
  readonly failGit: { readonly repository: string; readonly status?: number };
  /** From now on the repository requires these credentials. */
  readonly protect: { readonly repository: string; readonly username: string; readonly password: string };
  /** Creates a private key that may read over SSH. */
  readonly issueSshKey: Record<string, never>;
  /** Records a secret that a test has created: from now on it must not be written anywhere. */
  readonly keepSecret: { readonly what: string; readonly value: string };
  readonly killArgosy: { readonly index: number };
  /** Until the next start, with these sections of the configuration if any are given. */
  readonly startArgosy: {
    readonly index: number;
    readonly limits?: Readonly<Record<string, number>>;
    readonly leases?: Readonly<Record<string, number>>;
    readonly roles?: readonly string[];
    readonly health?: Readonly<Record<string, unknown>>;
    readonly accountTokens?: Readonly<Record<string, number>>;
  };
  /**
   * Leads all control planes through gates and counts their writes about these words from now on. The process that
   * reaches the point is killed.
   */
  readonly watchWrites: Watching;
  /** What was counted, and which process died. */
  readonly writesSeen: Record<string, never>;
  /** Leads the control planes past the gates again. */
  readonly closeGates: Record<string, never>;
  /** Path of a control plane process's configuration file. */
  readonly configOf: { readonly index: number };
  /** Id of a control plane process as a member. */
  readonly memberOf: { readonly index: number };
  readonly disturb: { readonly way: Way; readonly fault: Fault };
  readonly restore: { readonly way: Way };
  /** Restarts the API server without its history: watches from before have to list again. */
  readonly restartApiServer: Record<string, never>;
  /** Stops PostgreSQL and starts it again with the same data and port. */
  readonly stopDatabase: Record<string, never>;
  readonly startDatabase: Record<string, never>;
  /** Sets the wall clock of a control plane process this far from the machine's. */
  readonly setClock: { readonly index: number; readonly aheadMs: number };
  /** Kills a container's processes and returns how many there were. */
  readonly killContainer: { readonly namespace: string; readonly container: string };
  /** Lines with this text in the log of a running container. */
  readonly saidBy: { readonly namespace: string; readonly container: string; readonly containing: string };
  /** The same for all control plane processes, from their first start on. */
  readonly saidByArgosy: { readonly containing: string };
}

/** Asks the harness for something that only the process owning the parts can do. */
export async function callHarness<Name extends keyof HarnessCalls>(
  harness: Pick<HarnessAddress, "url">,
  name: Name,
  args: HarnessCalls[Name],
): Promise<unknown> {
  // JSON has no `undefined`. null means that a file is to be removed.
  const body = JSON.stringify(args, (_key, value: unknown) => (value === undefined ? null : value));
  const response = await fetch(`${harness.url}/${name}`, { method: "POST", body });
  const answer = (await response.json()) as { readonly result?: unknown; readonly error?: string };
  if (answer.error !== undefined) throw new Error(answer.error);
  return answer.result;
}

declare module "vitest" {
  interface ProvidedContext {
    /** One for each worker. */
    harnesses: readonly HarnessAddress[];
  }
}
