import type { Clock } from "../domain/clock.ts";
import type { Partition } from "../domain/partition.ts";
import { sleep } from "../runtime/clock.ts";

/**
 * Longest time for which a role waits for what it has to list before it takes its share, in ms. A kind that cannot be listed holds up what needs it, and
 * nothing else.
 */
const LIST_MS = 60_000;

/** Resolves when the promise has resolved or failed, when the signal aborts, and after a minute at the latest. */
export async function forAWhile(listed: Promise<unknown>, clock: Clock, signal: AbortSignal): Promise<void> {
  const enough = new AbortController();
  await Promise.race([listed, sleep(clock, LIST_MS, AbortSignal.any([signal, enough.signal]))]).catch(() => undefined);
  enough.abort(new Error("nobody waits any more"));
}

/**
 * Lets several controllers take a share of the same keys together. `takeShare` is called when the first of them is ready, with what resolves when all
 * of them are; each of them waits until it has resolved.
 */
export function joiningTogether(
  partition: Partition,
  { controllers, takeShare }: { readonly controllers: number; readonly takeShare: (allReady: Promise<void>) => Promise<void> },
): Partition {
  const { promise: allReady, resolve } = Promise.withResolvers<void>();
  let left = controllers;
  let taken: Promise<void> | undefined;
  return {
    ...partition,
    join() {
      left -= 1;
      if (left === 0) resolve();
      taken ??= takeShare(allReady);
      return taken;
    },
  };
}
