import { spawn } from "node:child_process";
import process from "node:process";
import { awaitEnd } from "./stages/await-end.ts";

/** A teardown stops a development cluster, which takes seconds. */
const GRACE_MS = 3 * 60_000;

/**
 * Runs Vitest in the caller's terminal and tells its exit status, or that it had to be ended after its report. An aborted run is
 * asked to end and waited for.
 */
export async function runVitest(
  args: readonly string[],
  { reportFile, signal }: { readonly reportFile?: string; readonly signal: AbortSignal },
): Promise<number | "lingered"> {
  const child = spawn(process.execPath, ["node_modules/vitest/vitest.mjs", "run", ...args], {
    stdio: ["ignore", "inherit", "inherit"],
    env: environment(),
  });
  const end = (): void => void child.kill("SIGTERM");
  signal.addEventListener("abort", end);
  const status = await awaitEnd(child, { reportFile, graceMs: GRACE_MS });
  signal.removeEventListener("abort", end);
  return status;
}

/** The caller's environment without a cluster of theirs, and without colours where nobody would see them. */
function environment(): NodeJS.ProcessEnv {
  const { KUBECONFIG: _theirs, ...rest } = process.env;
  return process.stdout.isTTY ? rest : { ...rest, NO_COLOR: "1" };
}
