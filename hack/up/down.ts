import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { DEFAULT_STATE } from "../../src/cli/connection.ts";
import { errorText } from "../../src/cli/error-text.ts";
import { runningSupervisor } from "./running.ts";
import { openStateDirectory } from "./state-directory.ts";

/** How long a supervisor may take to stop everything before we say that it does not, in ms. */
const PATIENCE_MS = 60_000;
const POLL_MS = 100;

/** Ends the fleet of a state directory by asking its supervisor to stop, and waits until it has. */
async function down(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { state: { type: "string", default: DEFAULT_STATE } } });
  const state = openStateDirectory(values.state);
  const pid = runningSupervisor(state);
  if (pid === undefined) return say(`nothing runs in ${state.root}`);
  process.kill(pid, "SIGTERM");
  const giveUpAt = performance.now() + PATIENCE_MS;
  while (runningSupervisor(state) !== undefined) {
    if (performance.now() > giveUpAt)
      throw new Error(`process ${pid} is still stopping after ${PATIENCE_MS / 1000} s; see ${state.path("log")}`);
    await delay(POLL_MS);
  }
  say(`stopped the fleet in ${state.root}; its data is still there`);
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
