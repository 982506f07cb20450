import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";

/** Stands in the environment of a run of tests and so of all that it starts, also of what leads a session of its own. */
export const RUN_MARK = "ARGOSY_TEST_RUN";

/** How long a fleet may take to stop in order, in ms. */
const GRACE_MS = 60_000;
const POLL_MS = 50;

/** A process and no later one of the same id. */
interface Running {
  readonly pid: number;
  readonly parent: number;
  readonly startedAt: string;
}

/**
 * The processes of a run: those that carry its mark, and all that descend from them, whatever environment these were given. None where
 * the system does not tell (it has no /proc).
 */
export function processesOf(run: string): ReadonlyMap<number, Running> {
  const all = new Map(allProcesses().map((each) => [each.pid, each]));
  const isOfRun = new Map<number, boolean>([[process.pid, false]]);
  const ofRun = (pid: number): boolean => {
    const known = isOfRun.get(pid);
    if (known !== undefined) return known;
    const { parent } = all.get(pid) ?? { parent: 0 };
    const is = isMarked(pid, run) || (parent > 0 && ofRun(parent));
    isOfRun.set(pid, is);
    return is;
  };
  return new Map([...all].filter(([pid]) => ofRun(pid)));
}

/**
 * Ends a run with all that it started, and waits for it. Who started others is asked first and may stop them in order; what they leave
 * is asked next; what does not end in time is killed. `before` are processes that were seen to belong to it earlier: those whose parent
 * has gone meanwhile cannot be found by descent any more.
 */
export async function endRun(run: string, before: ReadonlyMap<number, Running> = new Map()): Promise<void> {
  const seen = new Map(before);
  const asked = new Set<number>();
  const giveUpAt = performance.now() + GRACE_MS;
  for (;;) {
    for (const [pid, each] of processesOf(run)) seen.set(pid, each);
    const left = stillRunning(seen);
    if (left.size === 0) return;
    if (performance.now() > giveUpAt) for (const pid of left.keys()) send(pid, "SIGKILL");
    for (const { pid } of [...left.values()].filter((each) => !(left.has(each.parent) || asked.has(each.pid)))) {
      asked.add(pid);
      send(pid, "SIGTERM");
    }
    await sleep(POLL_MS);
  }
}

function stillRunning(processes: ReadonlyMap<number, Running>): ReadonlyMap<number, Running> {
  return new Map([...processes].filter(([pid, { startedAt }]) => readProcess(pid)?.startedAt === startedAt));
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has just ended.
  }
}

function isMarked(pid: number, run: string): boolean {
  return (read(`/proc/${pid}/environ`) ?? "").split("\0").includes(`${RUN_MARK}=${run}`);
}

function allProcesses(): readonly Running[] {
  try {
    return readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? (readProcess(Number(name)) ?? []) : []));
  } catch {
    return [];
  }
}

/** Nothing for one that has ended and only waits to be collected. */
function readProcess(pid: number): Running | undefined {
  const line = read(`/proc/${pid}/stat`);
  // The name may hold blanks and brackets: fields are counted after its last bracket (proc_pid_stat(5)).
  const fields = line?.slice(line.lastIndexOf(")") + 2).split(" ");
  const [state, parent, startedAt] = [fields?.[0], Number(fields?.[1]), fields?.[19]];
  return startedAt === undefined || state === "Z" || state === "X" ? undefined : { pid, parent, startedAt };
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
