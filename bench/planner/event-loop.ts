import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";

/** What some work took of the process it ran in. */
export interface Taken {
  /**
   * The longest time in which a timer that was due had to wait, in ms of the main thread's CPU: what other processes take of the machine meanwhile does
   * not count.
   */
  readonly blockMs: number;
  /** Of all threads, garbage collection among it. */
  readonly cpuMs: number;
}

const EVERY_MS = 1;
/** Long enough for the timer to be due before the work, and once more after it. */
const AROUND_MS = 10;

/** Runs some work and measures what it took. */
export async function takenBy(work: () => Promise<unknown>): Promise<Taken> {
  let [last, blockMs] = [threadMs(), 0];
  const timer = setInterval(() => {
    const now = threadMs();
    blockMs = Math.max(blockMs, now - last);
    last = now;
  }, EVERY_MS);
  await sleep(AROUND_MS);
  blockMs = 0;
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  await sleep(AROUND_MS);
  clearInterval(timer);
  return { blockMs, cpuMs: (user + system) / 1_000 };
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
