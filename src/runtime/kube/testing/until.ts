import { setTimeout } from "node:timers/promises";
import type { VirtualClock } from "../../testing/virtual-clock.ts";

/** Waits for a level: until the condition holds, however long the machine takes for it. */
export async function until(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`waited in vain for ${condition}`);
    await setTimeout(2);
  }
}

/**
 * Lets virtual time pass in steps until the condition holds. Between the steps real sockets get a moment, so that requests under way are
 * answered long before their virtual timeout.
 */
export async function advanceUntil(clock: VirtualClock, condition: () => boolean, stepMs = 100): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`advanced in vain for ${condition}`);
    await clock.advance(stepMs);
    await setTimeout(2);
  }
}
