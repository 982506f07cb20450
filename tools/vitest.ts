import { type SpawnOptions, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import process from "node:process";
import { awaitEnd } from "./stages/await-end.ts";

/** A teardown stops a development cluster, which takes seconds. */
const GRACE_MS = 3 * 60_000;

export interface VitestRun {
  readonly reportFile?: string;
  /** Where to write what it prints, absent: the caller's terminal. It then runs beside others, on the processors that they leave. */
  readonly outputFile?: string | undefined;
  readonly signal: AbortSignal;
}

/**
 * Runs Vitest and tells its exit status, or that it had to be ended after its report. An aborted run is asked to end and waited for.
 */
export async function runVitest(args: readonly string[], { reportFile, outputFile, signal }: VitestRun): Promise<number | "lingered"> {
  const output = outputFile === undefined ? "inherit" : openSync(outputFile, "w");
  const options: SpawnOptions = { stdio: ["ignore", output, output], env: environment(), detached: outputFile !== undefined };
  const way = outputFile === undefined ? [] : ["--import=./tools/last-in-line.mjs"];
  const child = spawn(process.execPath, [...way, "node_modules/vitest/vitest.mjs", "run", ...args], options);
  const end = (): void => void child.kill("SIGTERM");
  signal.addEventListener("abort", end);
  const status = await awaitEnd(child, { reportFile, graceMs: GRACE_MS });
  signal.removeEventListener("abort", end);
  if (typeof output === "number") closeSync(output);
  return status;
}

/** The caller's environment without a cluster of theirs, and without colours where nobody would see them. */
function environment(): NodeJS.ProcessEnv {
  const { KUBECONFIG: _theirs, ...rest } = process.env;
  return process.stdout.isTTY ? rest : { ...rest, NO_COLOR: "1" };
}
