import type { Clock } from "../domain/clock.ts";
import type { Partition } from "../domain/partition.ts";
import { abandonable } from "../runtime/kube/signals.ts";
import { limitTime } from "../runtime/kube/time-limit.ts";

/**
 * How long a role waits for what it has to list before it takes its share, in ms. A kind that cannot be listed holds up what needs it, and nothing else.
 * Where others work on that share meanwhile it waits longer: a full API server takes a minute to list a large fleet, and what is taken before that is
 * left alone until then.
 */
const LIST_MS = { alone: 20_000, besideOthers: 180_000 } as const;

export interface Waiting {
  readonly clock: Clock;
  /** Whether others work on the share meanwhile; asked each time 20 s have passed. Absent: nobody does, or nobody knows. */
  readonly isServed?: () => Promise<boolean>;
}

/** Resolves when the promise has resolved or failed, when the signal aborts, and after 20 s at the latest, or three minutes while others work on the share. */
export async function forAWhile(listed: Promise<unknown>, { clock, isServed }: Waiting, signal: AbortSignal): Promise<void> {
  const settled = Promise.allSettled([listed]).then(() => true);
  for (let waitedMs = 0; waitedMs < LIST_MS.besideOthers; waitedMs += LIST_MS.alone) {
    if (waitedMs > 0 && (await isServed?.()) !== true) return;
    const limit = limitTime({ clock, doing: "listing what a role needs", timeoutMs: LIST_MS.alone }, signal);
    const hasSettled = await abandonable(settled, limit.signal).catch(() => false);
    limit.release();
    if (hasSettled || signal.aborted) return;
  }
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
