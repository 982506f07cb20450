import { setTimeout } from "node:timers/promises";
import type { VirtualClock } from "../../runtime/testing/virtual-clock.ts";

/** Waits for a level, with a deadline that only a broken test meets; the condition may read from a server. */
export async function eventually(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 50_000;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`waited in vain until ${what}`);
    await setTimeout(2);
  }
}

/**
 * Lets virtual time pass until the level is reached; fails when more than `withinMs` of it went by. Real sockets get a moment between
 * the steps.
 */
export async function passes(
  { clock, withinMs }: { readonly clock: VirtualClock; readonly withinMs: number },
  what: string,
  holds: () => boolean | Promise<boolean>,
): Promise<void> {
  const startMs = clock.monotonicMs();
  while (!(await holds())) {
    if (clock.monotonicMs() - startMs > withinMs) throw new Error(`let time pass in vain until ${what}`);
    await clock.advance(500);
    await setTimeout(2);
  }
}
