import { spawn } from "node:child_process";
import { once } from "node:events";

/** A terminal sends Ctrl-C to every process in front of it, so the program has it already; other senders mean only us. */
const FORWARDED = process.stdin.isTTY ? ["SIGTERM", "SIGHUP"] : ["SIGTERM", "SIGHUP", "SIGINT"];

const CHECK_EVERY_MS = 250;

/**
 * Runs a program in the caller's terminal and ends this process as it ended: same status, or same signal. Where `endsWithNpm`, a program
 * that npm started is asked to end when npm's shell has gone: npm passes a signal to that shell, which passes it to nobody.
 */
export async function execute(node, args, { env, endsWithNpm = false }) {
  // Node.js 22 calls running TypeScript experimental and says so on every start.
  const child = spawn(node, ["--disable-warning=ExperimentalWarning", ...args], { stdio: "inherit", env });
  const forward = (signal) => child.kill(signal);
  for (const signal of FORWARDED) process.on(signal, forward);
  const shell = process.ppid;
  const isWatching = endsWithNpm && process.env.npm_lifecycle_event !== undefined;
  const endWithShell = () => {
    if (process.ppid === shell) return;
    clearInterval(watching);
    child.kill("SIGTERM");
  };
  const watching = isWatching ? setInterval(endWithShell, CHECK_EVERY_MS) : undefined;
  const ignore = () => {};
  process.on("SIGINT", ignore);
  const [code, signal] = await once(child, "exit");
  clearInterval(watching);
  for (const each of FORWARDED) process.off(each, forward);
  process.off("SIGINT", ignore);
  if (signal === null) process.exitCode = code;
  else process.kill(process.pid, signal);
}
