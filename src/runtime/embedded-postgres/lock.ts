import { randomUUID } from "node:crypto";
import { link, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sleep, systemClock } from "../clock.ts";
import { identify } from "./process-identity.ts";

const RETRY_MS = 50;

/** A file that says which process made it: readable as a claim of that process for as long as it lives. */
async function claimText(): Promise<string> {
  const self = await identify(process.pid);
  return `${process.pid} ${self?.startedAt ?? "unknown"}\n${randomUUID()}\n`;
}

async function isAlive(claim: string): Promise<boolean> {
  const [pid, ...startedAt] = (claim.split("\n")[0] ?? "").split(" ");
  if (pid === undefined || !/^\d{1,10}$/.test(pid)) return false;
  return (await identify(Number(pid)))?.startedAt === startedAt.join(" ");
}

/**
 * Runs `work` while holding the lock file: processes that start, join or stop the same server take turns. A lock whose
 * process died is taken over. Rejects with the signal's reason when that aborts while waiting.
 */
export async function withLock<T>(lockFile: string, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  const claim = await claimText();
  const own = `${lockFile}.${claim.split("\n")[1] ?? ""}`;
  await writeFile(own, claim, { mode: 0o600 });
  try {
    // A link appears with its content or not at all, so nobody ever reads a half-written claim.
    while (!(await tryLink(own, lockFile))) {
      if (!(await removeIfDead(lockFile, own))) await sleep(systemClock, RETRY_MS, signal);
    }
    try {
      return await work();
    } finally {
      await rm(lockFile, { force: true });
    }
  } finally {
    await rm(own, { force: true });
  }
}

async function tryLink(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw cause;
  }
}

/**
 * Takes a dead process's lock away. Between reading and renaming somebody else may have done the same and locked anew: then
 * we hold a living claim in our hands and put it back. Should a third one have locked in that instant both go on; the
 * server's own lock on its data directory still keeps the data safe.
 */
async function removeIfDead(lockFile: string, own: string): Promise<boolean> {
  const seen = await readFile(lockFile, "utf8").catch(() => undefined);
  if (seen === undefined) return true;
  if (await isAlive(seen)) return false;
  const taken = `${own}.taken`;
  try {
    await rename(lockFile, taken);
  } catch {
    return true;
  }
  if ((await readFile(taken, "utf8")) !== seen) await tryLink(taken, lockFile);
  await rm(taken, { force: true });
  return true;
}

/** The processes that use one server: a file for each. */
export interface Holders {
  /** Joins; the returned function leaves and tells whether somebody living remains. Call both under the lock. */
  join(): Promise<() => Promise<{ readonly othersRemain: boolean }>>;
}

export function createHolders(directory: string): Holders {
  return {
    async join() {
      const claim = await claimText();
      const file = join(directory, claim.split("\n")[1] ?? "");
      await writeFile(file, claim, { mode: 0o600 });
      return async () => {
        await rm(file, { force: true });
        return { othersRemain: await anyAlive(directory) };
      };
    },
  };
}

async function anyAlive(directory: string): Promise<boolean> {
  let found = false;
  for (const name of await readdir(directory)) {
    const file = join(directory, name);
    const claim = await readFile(file, "utf8").catch(() => "");
    if (await isAlive(claim)) found = true;
    else await rm(file, { force: true });
  }
  return found;
}
