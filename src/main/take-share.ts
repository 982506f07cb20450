import type { Clock } from "../domain/clock.ts";
import type { Partition } from "../domain/partition.ts";
import { abandonable } from "../runtime/kube/signals.ts";
import { limitTime } from "../runtime/kube/time-limit.ts";

/**
 * Longest time for which a role waits for what it has to list before it takes its share, in ms. A kind that cannot be listed holds up what needs it, and
 * nothing else.
 */
const LIST_MS = 20_000;

/** Resolves when the promise has resolved or failed, when the signal aborts, and after 20 s at the latest. */
export async function forAWhile(listed: Promise<unknown>, clock: Clock, signal: AbortSignal): Promise<void> {
  const limit = limitTime({ clock, doing: "listing what a role needs", timeoutMs: LIST_MS }, signal);
  await abandonable(listed, limit.signal).catch(() => undefined);
  limit.release();
}

/**
 * Lets several controllers take a share of the same keys together. `allReady` resolves when each of them has asked for its share, and `share` is what
 * they wait for then.
 */
export function joiningTogether(
  partition: Partition,
  { controllers, share }: { readonly controllers: number; readonly share: Promise<void> },
): { readonly partition: Partition; readonly allReady: Promise<void> } {
  const { promise: allReady, resolve } = Promise.withResolvers<void>();
  let left = controllers;
  const join = (): Promise<void> => {
    left -= 1;
    if (left === 0) resolve();
    return share;
  };
  return { partition: { ...partition, join }, allReady };
}
