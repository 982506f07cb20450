import { setTimeout } from "node:timers/promises";

/** Waits until something holds, with a deadline that only a broken test meets. `holds` may ask a server. */
export async function eventually(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`waited in vain until ${what}`);
    await setTimeout(10);
  }
}
