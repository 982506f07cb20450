import { type SpawnOptions, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { closeSync, openSync } from "node:fs";
import process from "node:process";
import { awaitEnd } from "./stages/await-end.ts";
import { endRun, processesOf, RUN_MARK } from "./stages/end-run.ts";

/** A teardown stops a development cluster, which takes seconds. */
const GRACE_MS = 3 * 60_000;

export interface VitestRun {
  readonly reportFile?: string;
  /** Where to write what it prints, absent: the caller's terminal. It then runs beside others, on the processors that they leave. */
  readonly outputFile?: string | undefined;
  readonly signal: AbortSignal;
}

/**
 * Runs Vitest and tells its exit status, or that it had to be ended after its report. An aborted run is
 * asked to end. However it ends, it leaves no process behind: Vitest's workers survive it, and so does what a test starts in the background.
 */
export async function runVitest(args: readonly string[], { reportFile, outputFile, signal }: VitestRun): Promise<number | "lingered"> {
  const run = randomUUID();
  const output = outputFile === undefined ? "inherit" : openSync(outputFile, "w");
  const options: SpawnOptions = {
    stdio: ["ignore", output, output],
    env: { ...environment(), [RUN_MARK]: run },
    // A signal for the caller's whole group must not reach it first: what it started could not be found by descent any more.
    detached: true,
  };
  const way = outputFile === undefined ? [] : ["--import=./tools/last-in-line.mjs"];
  const child = spawn(process.execPath, [...way, "node_modules/vitest/vitest.mjs", "run", ...args], options);
  let before: ReturnType<typeof processesOf> = new Map();
  const end = (): void => {
    before = processesOf(run);
    child.kill("SIGTERM");
  };
  signal.addEventListener("abort", end);
  const status = await awaitEnd(child, { reportFile, graceMs: GRACE_MS });
  signal.removeEventListener("abort", end);
  await endRun(run, before);
  if (typeof output === "number") closeSync(output);
  return status;
}

/** The caller's environment without a cluster of theirs, and without colours where nobody would see them. */
function environment(): NodeJS.ProcessEnv {
  const { KUBECONFIG: _theirs, ...rest } = process.env;
  return process.stdout.isTTY ? rest : { ...rest, NO_COLOR: "1" };
}
