import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { UnavailableError } from "../../src/domain/errors.ts";
import type { BuiltSet } from "../dev-cluster/build.ts";
import { type DevProcess, startProcess, stopProcess } from "../dev-cluster/processes/process.ts";
import { createSshKey } from "./ssh-key.ts";

/** The repositories of a Git server, over SSH. */
export interface GitSshServer {
  /** One line for a known_hosts file, or Argo CD's `ssh_known_hosts`. */
  readonly knownHost: string;
  repositoryUrl(repository: string): string;
  /** A new key that may log in until it is revoked: its private half, PEM. */
  issueKey(): string;
  /** Revokes every key issued so far. */
  revokeKeys(): void;
  stop(): Promise<void>;
}

export interface GitSshServerOptions {
  /** Folder of the repositories, the same as the HTTP server's. */
  readonly repositories: string;
  /** Folder for keys and logs. */
  readonly directory: string;
  /** The set `tools`. */
  readonly programs: BuiltSet;
}

/** Throws `UnavailableError` if it does not start. */
export async function startGitSshServer(options: GitSshServerOptions, signal: AbortSignal): Promise<GitSshServer> {
  mkdirSync(options.directory, { recursive: true, mode: 0o700 });
  const file = (name: string) => join(options.directory, name);
  writeFileSync(file("authorized_keys"), "", { mode: 0o600 });
  writeFileSync(file("log"), "");
  const process = await startProcess({
    ...{ directory: file("run"), command: options.programs.program("git-ssh"), cwd: options.directory, log: file("log"), endsWithUs: true },
    args: ["--root", options.repositories, "--host-key", file("host_key"), "--authorized-keys", file("authorized_keys")],
    env: { PATH: globalThis.process.env["PATH"] ?? "" },
  });
  const knownHost = await firstLine(file("log"), process, signal);
  const port = /^\[127\.0\.0\.1\]:(\d+) /.exec(knownHost)?.[1] ?? "";
  return {
    knownHost,
    repositoryUrl: (repository) => `ssh://git@127.0.0.1:${port}/${repository}.git`,
    issueKey() {
      const key = createSshKey();
      writeFileSync(file("authorized_keys"), `${key.authorizedKey}\n`, { flag: "a" });
      return key.privateKey;
    },
    revokeKeys: () => writeFileSync(file("authorized_keys"), ""),
    async stop() {
      await stopProcess(process, 1000);
    },
  };
}

async function firstLine(log: string, process: DevProcess, signal: AbortSignal): Promise<string> {
  for (;;) {
    const [line, ...rest] = readFileSync(log, "utf8").split("\n");
    if (line !== undefined && rest.length > 0 && line.startsWith("[")) return line;
    if (!process.isAlive()) throw new UnavailableError(`Starting the SSH server for Git (see ${log})`, { code: "dev.not-ready" });
    await sleep(10, undefined, { signal });
  }
}
