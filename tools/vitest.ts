import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";

/** Runs Vitest in the caller's terminal and tells its exit status. An aborted run is asked to end and waited for. */
export async function runVitest(args: readonly string[], signal: AbortSignal): Promise<number> {
  const child = spawn(process.execPath, ["node_modules/vitest/vitest.mjs", "run", ...args], {
    stdio: ["ignore", "inherit", "inherit"],
    env: environment(),
  });
  const end = (): void => void child.kill("SIGTERM");
  signal.addEventListener("abort", end);
  const [status] = (await once(child, "exit")) as [number | null];
  signal.removeEventListener("abort", end);
  return status ?? 1;
}

/** The caller's environment without a cluster of theirs, and without colours where nobody would see them. */
function environment(): NodeJS.ProcessEnv {
  const { KUBECONFIG: _theirs, ...rest } = process.env;
  return process.stdout.isTTY ? rest : { ...rest, NO_COLOR: "1" };
}
