import { setTimeout as sleep } from "node:timers/promises";

/**
 * Starts actions at a fixed rate, whether or not earlier ones have ended. Returns the result of each with the moment
 * at which it was due. Times are counted from that moment: so a system that stalls is charged for the whole queue
 * that builds up.
 */
export async function openLoop<R>(
  plan: { readonly rate: number; readonly count: number },
  act: (index: number) => Promise<R>,
  signal: AbortSignal,
): Promise<readonly { readonly intendedAt: number; readonly result: R }[]> {
  return openLoopWhile({ rate: plan.rate, goesOn: (index) => index < plan.count }, act, signal);
}

/** The same, for as long as `goesOn` says before each action, by how many were started. */
export async function openLoopWhile<R>(
  plan: { readonly rate: number; readonly goesOn: (started: number) => boolean },
  act: (index: number) => Promise<R>,
  signal: AbortSignal,
): Promise<readonly { readonly intendedAt: number; readonly result: R }[]> {
  const startedAt = performance.now();
  const running: Promise<{ readonly intendedAt: number; readonly result: R }>[] = [];
  for (let index = 0; plan.goesOn(index); index += 1) {
    const intendedAt = startedAt + (index * 1000) / plan.rate;
    const aheadMs = intendedAt - performance.now();
    if (aheadMs > 1) await sleep(aheadMs, undefined, { signal });
    const acting = act(index).then((result) => ({ intendedAt, result }));
    // Awaited below. A failure before that must not end the process.
    acting.catch(() => {});
    running.push(acting);
  }
  return Promise.all(running);
}

/** Runs an action for each item, so many at a time. The first failure ends it. Results are in the order of the items. */
export async function inFlight<T, R>(items: readonly T[], atOnce: number, act: (item: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = new Array<R>(items.length);
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < items.length) {
      const index = next;
      next += 1;
      results[index] = await act(items[index] as T);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, work));
  return results;
}
