import { setTimeout } from "node:timers/promises";

/** Waits for a level, with a deadline that only a broken test meets; what is awaited may look at a server. */
export async function eventually(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`waited in vain until ${what}`);
    await setTimeout(10);
  }
}
