import { spawn } from "node:child_process";
import type { RunAs } from "./run-as.ts";

export interface Finished {
  readonly code: number | undefined;
  readonly output: string;
}

/** Environment of everything started here: the server needs nothing of ours, and ours may hold secrets. */
export const CHILD_ENVIRONMENT = { PATH: "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" };

/**
 * Runs a program to its end and collects what it prints. Rejects with the system's error when it cannot be started at all
 * (ENOENT, EACCES, EPERM), with the signal's reason when that aborts (the program is killed).
 */
export function runToEnd(
  program: string,
  args: readonly string[],
  options: { readonly runAs: RunAs | undefined; readonly signal: AbortSignal },
): Promise<Finished> {
  const { runAs, signal } = options;
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const child = spawn(program, args, {
      cwd: "/",
      env: CHILD_ENVIRONMENT,
      stdio: ["ignore", "pipe", "pipe"],
      signal,
      killSignal: "SIGKILL",
      ...ids(runAs),
    });
    let output = "";
    const collect = (chunk: Buffer): void => {
      output = (output + chunk.toString("utf8")).slice(-8_000);
    };
    child.stdout.on("data", collect);
    child.stderr.on("data", collect);
    child.on("error", (error) => reject(signal.aborted ? signal.reason : error));
    child.on("close", (code) => resolve({ code: code ?? undefined, output: output.trim() }));
  });
}

/** The part of `spawn`'s options that drops root; Node also drops the supplementary groups. */
export function ids(runAs: RunAs | undefined): { readonly uid?: number; readonly gid?: number } {
  return runAs === undefined ? {} : { uid: runAs.uid, gid: runAs.gid };
}
