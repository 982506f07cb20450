import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { errorText } from "../../src/cli/error-text.ts";
import { stopLeftEverything } from "./leftovers.ts";
import { DOWN_HELP, parseDownOptions } from "./options.ts";
import { claimSupervision, runningSupervisor } from "./running.ts";
import { findStateDirectory, type StateDirectory } from "./state-directory.ts";

/** How long a supervisor may take to stop everything before that is reported, in ms. */
const TIMEOUT_MS = 60_000;
const POLL_MS = 100;

/** Asks the supervisor of a state directory to stop, and waits until it has. If the supervisor was killed, ends what it left. */
async function down(args: readonly string[]): Promise<void> {
  const options = parseDownOptions(args);
  if (options.help) return void process.stdout.write(DOWN_HELP);
  const state = findStateDirectory(options.state);
  if (state === undefined) return say(`nothing runs in ${options.state}: there is no such directory`);
  const pid = runningSupervisor(state);
  const count = pid === undefined ? await stopWithoutSupervisor(state) : await stopSupervisor(state, pid);
  say(count === 0 ? `nothing runs in ${state.root}` : `stopped the fleet in ${state.root}; its data is still there`);
}

async function stopSupervisor(state: StateDirectory, pid: number): Promise<number> {
  process.kill(pid, "SIGTERM");
  const giveUpAt = performance.now() + TIMEOUT_MS;
  while (runningSupervisor(state) === pid) {
    if (performance.now() > giveUpAt)
      throw new Error(`process ${pid} is still stopping after ${TIMEOUT_MS / 1000} s; see ${state.path("log")}`);
    await delay(POLL_MS);
  }
  return 1;
}

async function stopWithoutSupervisor(state: StateDirectory): Promise<number> {
  const release = claimSupervision(state);
  try {
    return await stopLeftEverything(state);
  } finally {
    release();
  }
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

try {
  await down(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`down: ${errorText(error)}\n`);
  process.exitCode = 1;
}
