import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, createReadStream, openSync } from "node:fs";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { claimSupervision } from "./running.ts";
import type { StateDirectory } from "./state-directory.ts";
import { DETACHED, READY_FILE } from "./supervise.ts";

const ENTRY = fileURLToPath(new URL("./main.ts", import.meta.url));
const POLL_MS = 200;

/**
 * Starts a supervisor that outlives this process, shows its output and returns once it is ready. If interrupted
 * before that, it lets the supervisor stop everything again. Resolves with the exit code. Throws `InputError` when a
 * fleet runs there already.
 */
export async function detach(state: StateDirectory, args: readonly string[]): Promise<number> {
  // The log belongs to the fleet that runs there.
  claimSupervision(state)();
  const file = state.path("log", "up.log");
  const log = openSync(file, "w");
  const child = spawn(process.execPath, [ENTRY, ...args.filter((arg) => arg !== "--detach")], {
    detached: true,
    stdio: ["ignore", log, log],
    env: { ...process.env, [DETACHED]: "yes" },
  });
  closeSync(log);
  const interrupt = (): void => void child.kill("SIGTERM");
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, interrupt);
  const code = await readyOrEnded(child, state, file);
  if (code !== undefined) return code;
  child.unref();
  const flag = args.includes("--state") || args.some((arg) => arg.startsWith("--state=")) ? ` -- --state ${state.root}` : "";
  process.stdout.write(`\nRunning in the background; \`npm run down${flag}\` stops it.\n`);
  return 0;
}

/** Shows the log while it grows, until the supervisor is ready (`undefined`) or has ended (its exit code). */
async function readyOrEnded(child: ChildProcess, state: StateDirectory, log: string): Promise<number | undefined> {
  let end: number | undefined;
  child.once("exit", (code) => {
    end = code ?? 1;
  });
  for (let shown = 0; ; await sleep(POLL_MS)) {
    const isOver = end !== undefined || state.read(READY_FILE) === String(child.pid);
    shown += await show(log, shown);
    if (isOver) return end;
  }
}

/** Copies what was written since. Returns how many bytes that were. */
async function show(file: string, from: number): Promise<number> {
  let count = 0;
  for await (const chunk of createReadStream(file, { start: from })) {
    process.stdout.write(chunk as Buffer);
    count += (chunk as Buffer).length;
  }
  return count;
}
