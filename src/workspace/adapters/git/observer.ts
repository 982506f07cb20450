import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { resolve as absolute, join } from "node:path";
import { type ResolveHost, resolveHost } from "../../../runtime/resolve-host.ts";
import type { Log } from "../../../telemetry/log.ts";
import { type CredentialOutcome, readEnd } from "../../repository-credential/outcome.ts";
import type { RepositoryObserver, RepositoryTarget } from "../../repository-credential/port.ts";
import { allowedAddresses } from "./allowed-addresses.ts";
import { directoryPrefix, gitCommand, type ProcessMark, repositoryOwnerOf } from "./command.ts";
import { probeByHttp } from "./probe-by-http.ts";
import { runGit } from "./run-git.ts";

export interface GitObserverOptions {
  /** Where each probe gets a private directory for as long as it lasts. */
  readonly directory: string;
  /** Where git, ssh and their helpers are found. */
  readonly path: string;
  readonly log: Log;
  readonly resolve?: ResolveHost;
  readonly deadlineMs?: number;
}

/** A host that answers at all does so within a second or two. */
const DEADLINE_MS = 20_000;
/** The first one that takes the address to connect to (`http.curloptResolve`); an older one would ask DNS again. */
const OLDEST_GIT = [2, 37] as const;

/** What git says of a repository that is not empty. */
const HEAD = /^(?:[0-9a-f]{40}|[0-9a-f]{64})\tHEAD$/m;

const SELF: ProcessMark = { pid: process.pid, startedAtMs: Math.round(performance.timeOrigin) };

/**
 * Probes by HTTP where a repository is reached by it, with the two requests that git would make. What that does not understand, and all by SSH, is probed with the system's
 * git, in a child process that is given as little as it needs.
 */
export function createGitObserver(options: GitObserverOptions): RepositoryObserver {
  const { path, log, resolve = resolveHost, deadlineMs = DEADLINE_MS } = options;
  const base = absolute(options.directory);
  mkdirSync(base, { recursive: true, mode: 0o700 });
  removeLeftovers(base);
  let isUsable: Promise<boolean> | undefined;

  const check = async (signal: AbortSignal): Promise<boolean> => {
    isUsable ??= hasGit(base, path, signal).catch(() => false);
    const answer = await isUsable;
    if (answer) return true;
    isUsable = undefined;
    log.error({ oldest: OLDEST_GIT.join(".") }, "Probing repositories needs git, and a newer one than is here");
    return false;
  };

  const askGit = async (target: RepositoryTarget, addresses: readonly string[], signal: AbortSignal): Promise<CredentialOutcome> => {
    const directory = await mkdtemp(join(base, directoryPrefix(SELF)));
    try {
      const { args, env, files } = gitCommand(target, addresses, { directory, path });
      for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text, { mode: 0o600, flag: "wx" });
      const end = await runGit({ args, env, cwd: directory, deadlineMs }, signal);
      if (end.kind === "too-late") return "unreachable";
      if (end.kind === "too-much") return "failed";
      const outcome = readEnd({ ...end, url: target.url });
      // Git takes a page of one line, to log in for example, for a repository of plain files without any branch. By SSH an empty repository has no HEAD either.
      if (outcome === "readable" && target.scheme !== "ssh" && !HEAD.test(end.stdout)) return "not-found";
      // What git says may name paths of ours and words of the other side: it is for whoever runs Argosy, never for users.
      if (outcome === "failed")
        log.warn(
          { host: target.host, exitCode: end.exitCode, stderr: end.stderr.slice(-500) },
          "Not understanding how the probe of a repository ended",
        );
      return outcome;
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  };

  return {
    async observe(target, signal) {
      try {
        if (!(await check(signal))) return "failed";
        const addresses = await allowedAddresses(target, resolve, signal);
        if (typeof addresses === "string") return addresses;
        const byHttp = target.scheme === "ssh" ? undefined : await probeByHttp(target, { addresses, deadlineMs }, signal);
        return byHttp ?? (await askGit(target, addresses, signal));
      } catch (error) {
        signal.throwIfAborted();
        log.error({ err: error, host: target.host }, "Failing to probe a repository");
        return "failed";
      }
    },
  };
}

async function hasGit(cwd: string, path: string, signal: AbortSignal): Promise<boolean> {
  const end = await runGit({ args: ["version"], env: { PATH: path, HOME: cwd, LC_ALL: "C" }, cwd, deadlineMs: DEADLINE_MS }, signal);
  const version = /^git version (\d+)\.(\d+)/.exec(end.kind === "ended" ? end.stdout : "");
  const [major, minor] = [Number(version?.[1] ?? 0), Number(version?.[2] ?? 0)];
  return major > OLDEST_GIT[0] || (major === OLDEST_GIT[0] && minor >= OLDEST_GIT[1]);
}

/** A process that was killed leaves its directories, and keys in them. */
function removeLeftovers(base: string): void {
  for (const name of readdirSync(base)) {
    const owner = repositoryOwnerOf(name);
    if (owner !== undefined && !isAlive(owner)) rmSync(join(base, name), { recursive: true, force: true });
  }
}

function isAlive({ pid, startedAtMs }: ProcessMark): boolean {
  if (pid === SELF.pid) return startedAtMs === SELF.startedAtMs;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
