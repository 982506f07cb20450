import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { startProcess, stopProcess } from "../../hack/dev-cluster/processes/process.ts";

export interface Program {
  readonly logFile: string;
  /** Rejects with the end of the log when the program ends without having been stopped. */
  readonly lost: Promise<never>;
  stop(): Promise<void>;
}

const STOP_MS = 5_000;

/** Starts a program of this folder as a process, which ends with this one. */
export async function startProgram(directory: string, file: string, args: readonly string[]): Promise<Program> {
  const run = join(directory, `${file.replaceAll(/[/.]/g, "-")}.run`);
  mkdirSync(run, { recursive: true });
  const logFile = join(run, "log");
  // The program's shell creates it too, but at an unknown time.
  writeFileSync(logFile, "");
  const child = await startProcess({
    directory: run,
    command: process.execPath,
    args: [fileURLToPath(new URL(`../${file}`, import.meta.url)), ...args],
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => name !== "KUBECONFIG" && name !== "NODE_OPTIONS")) as Record<
      string,
      string
    >,
    cwd: directory,
    log: logFile,
    endsWithUs: true,
  });
  let isStopping = false;
  const lost = child.ended.then((code) => {
    if (isStopping) return new Promise<never>(() => {});
    throw new Error(`${file} ended with ${code}: ${readFileSync(logFile, "utf8").slice(-2_000)}`);
  });
  lost.catch(() => {});
  return {
    logFile,
    lost,
    async stop() {
      isStopping = true;
      await stopProcess(child, STOP_MS);
    },
  };
}

/** Waits until a program has written this text. */
export async function said(program: Program, text: string, signal: AbortSignal): Promise<void> {
  while (!readFileSync(program.logFile, "utf8").includes(text)) await Promise.race([sleep(20, undefined, { signal }), program.lost]);
}
