import { existsSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import process from "node:process";
import { InputError } from "../../src/domain/errors.ts";
import { startTicks } from "../dev-cluster/processes/proc.ts";
import type { StateDirectory } from "./state-directory.ts";

/** File with the process that supervises the fleet of a state directory: its id and when it was started. */
const PID_FILE = "up.pid";
const ATTEMPTS = 10;

/** The supervising process of this state directory, if it runs. A process that got the same id later does not count. */
export function runningSupervisor(state: StateDirectory): number | undefined {
  return aliveIn(state.read(PID_FILE));
}

/** Claims the supervision for this process. Throws `InputError` when another process has it. Returns how to give it back. */
export function claimSupervision(state: StateDirectory): () => void {
  const mine = `${process.pid} ${startTicks(process.pid) ?? "-"}\n`;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    if (take(state, mine)) return () => giveBack(state, mine);
    const other = runningSupervisor(state);
    if (other !== undefined) throw alreadyRunning(state, other);
  }
  throw alreadyRunning(state, undefined);
}

/** A link is created completely or not at all, so nobody reads half a claim. The claim of a dead process is moved aside first. */
function take(state: StateDirectory, mine: string): boolean {
  const [file, draft] = [state.path(PID_FILE), state.path(`${PID_FILE}.${process.pid}`)];
  if (existsSync(file) && aliveIn(state.read(PID_FILE)) === undefined) putAside(state);
  writeFileSync(draft, mine);
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Another process may have replaced the dead claim between the check and the rename. Then its claim is put back. */
function putAside(state: StateDirectory): void {
  const [file, aside] = [state.path(PID_FILE), state.path(`${PID_FILE}.${process.pid}.dead`)];
  try {
    renameSync(file, aside);
    if (aliveIn(readFileSync(aside, "utf8")) !== undefined && !existsSync(file)) linkSync(aside, file);
  } catch (error) {
    if (!["ENOENT", "EEXIST"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

function giveBack(state: StateDirectory, mine: string): void {
  if (state.read(PID_FILE) === mine) state.remove(PID_FILE);
}

function alreadyRunning(state: StateDirectory, other: number | undefined): InputError {
  return new InputError(`${other === undefined ? "another process" : `process ${other}`} already runs a fleet in ${state.root}`, {
    code: "up.running",
    path: "--state",
    remedy: "`npm run down` stops it; --state DIR starts another one beside it",
  });
}

function aliveIn(claim: string | undefined): number | undefined {
  const [id, ticks] = (claim ?? "").trim().split(" ");
  const pid = Number(id);
  if (!Number.isInteger(pid) || pid <= 1) return undefined;
  const isSame = existsSync("/proc/self/stat") ? startTicks(pid) === Number(ticks) : isAlive(pid);
  return isSame ? pid : undefined;
}

/** Only where there is no /proc: refusing a second start is better than running two. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
