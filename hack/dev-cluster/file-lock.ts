import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startTicks } from "./processes/proc.ts";

/**
 * Runs `work` while the file `path` is held as a lock between processes. A lock is taken over if its holder no longer
 * runs: there is no process with its id, or the id belongs to a younger one. Waits while the holder runs, or until
 * `signal`.
 */
export async function withFileLock<T>(path: string, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  await mkdir(dirname(path), { recursive: true });
  const mine = `${process.pid} ${startTicks(process.pid) ?? ""}`;
  while (!(await take(path, mine))) await sleep(200, undefined, { signal });
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

async function take(path: string, mine: string): Promise<boolean> {
  try {
    await writeFile(path, mine, { flag: "wx" });
    return true;
  } catch {
    const holder = await readFile(path, "utf8").catch(() => "");
    const [pid, ticks] = holder.split(" ");
    // An empty file is a lock just being written; its holder fills it at once.
    if (pid !== undefined && pid !== "" && startTicks(Number(pid)) !== Number(ticks)) await rm(path, { force: true });
    return false;
  }
}
