import { spawn } from "node:child_process";
import { once } from "node:events";

/** A terminal sends Ctrl-C to every process in front of it, so the program has it already; other senders mean only us. */
const FORWARDED = process.stdin.isTTY ? ["SIGTERM", "SIGHUP"] : ["SIGTERM", "SIGHUP", "SIGINT"];

/** Runs a program in the caller's terminal and ends this process as it ended: same status, or same signal. */
export async function execute(node, args, env) {
  // Node.js 22 calls running TypeScript experimental and says so on every start.
  const child = spawn(node, ["--disable-warning=ExperimentalWarning", ...args], { stdio: "inherit", env });
  const forward = (signal) => child.kill(signal);
  for (const signal of FORWARDED) process.on(signal, forward);
  const ignore = () => {};
  process.on("SIGINT", ignore);
  const [code, signal] = await once(child, "exit");
  for (const each of FORWARDED) process.off(each, forward);
  process.off("SIGINT", ignore);
  if (signal === null) process.exitCode = code;
  else process.kill(process.pid, signal);
}
