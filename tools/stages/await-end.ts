import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";

export interface Ending {
  /** What the process writes when its work is done; absent: nothing, and it is waited for however long it takes. */
  readonly reportFile: string | undefined;
  /** How long it may take to end after that, in ms. */
  readonly graceMs: number;
}

const CHECK_EVERY_MS = 250;

/**
 * The exit status of a process; "lingered" for one that has written its report, did not end within the time it was given, and was
 * killed. Vitest has been seen to turn in circles for ever while Node.js closes its handles, after all tests and the teardown.
 */
export async function awaitEnd(child: ChildProcess, { reportFile, graceMs }: Ending): Promise<number | "lingered"> {
  let writtenAt: number | undefined;
  let hasLingered = false;
  const watching = setInterval(() => {
    if (writtenAt === undefined && reportFile !== undefined && existsSync(reportFile)) writtenAt = performance.now();
    if (writtenAt === undefined || performance.now() - writtenAt < graceMs) return;
    hasLingered = true;
    child.kill("SIGKILL");
  }, CHECK_EVERY_MS);
  const [status] = (await once(child, "exit")) as [number | null];
  clearInterval(watching);
  return hasLingered ? "lingered" : (status ?? 1);
}
