import { readFileSync } from "node:fs";
import process from "node:process";
import { InputError } from "../../src/domain/errors.ts";
import type { StateDirectory } from "./state-directory.ts";

/** File that names the process which supervises the fleet of a state directory. */
const PID_FILE = "up.pid";

/** The supervising process of this state directory, if one is alive. A pid that was given to another program is not it. */
export function runningSupervisor(state: StateDirectory): number | undefined {
  const pid = Number(state.read(PID_FILE)?.split(" ")[0]);
  if (!Number.isInteger(pid) || pid <= 1 || pid === process.pid) return undefined;
  return commandLine(pid).includes("hack/up/main.ts") ? pid : undefined;
}

/** Says that this process supervises; throws `InputError` when another one does. Returns what takes it back. */
export function claimSupervision(state: StateDirectory): () => void {
  const other = runningSupervisor(state);
  if (other !== undefined) {
    throw new InputError(`process ${other} already runs a fleet in ${state.root}`, {
      code: "up.running",
      path: "--state",
      remedy: "`npm run down` stops it; --state DIR starts another one beside it",
    });
  }
  state.write(PID_FILE, `${process.pid}\n`);
  return () => state.remove(PID_FILE);
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return isAlive(pid) ? "hack/up/main.ts" : "";
  }
}

/** Only asked where there is no /proc: better to refuse a second start than to run two. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
