import type { Baseline, Signals } from "../domain/health.ts";

/** Shorter times are counted as this one, in s. Measured: 0.016 to 0.023 on a healthy instance of small applications. */
const SHORTEST_S = 0.02;
/**
 * By which share one probe changes a baseline that is known. It follows the median of days: a morning's trouble does
 * not become usual.
 */
const STEP = 0.002;
/** How many probes a baseline needs before anything is compared with it. */
const LEARNT = 20;

/**
 * The usual time of a comparison on an instance, after one more probe: a running median that takes a small step
 * towards each measurement (frugal streaming, Ma, Muthukrishnan and Sandler 2013), larger steps at first. Once known,
 * 350 probes on one side change it two-fold. Nothing is learnt while anything waits, or from a controller that has
 * just started.
 */
export function nextBaseline(before: Baseline | undefined, signals: Signals, graceMs: number): Baseline | undefined {
  const { reconcileS, uptimeS = 0, queueWaitS = 0, canaryS = 0, waitingOver10 = 0 } = signals;
  const isCalm = uptimeS * 1_000 > graceMs && queueWaitS < 1 && canaryS < 2 && waitingOver10 < 0.1;
  if (reconcileS === undefined || !isCalm) return before;
  if (before === undefined) return { reconcileS: Math.max(SHORTEST_S, reconcileS), observations: 1 };
  const step = Math.max(STEP, 0.5 / before.observations);
  const moved = before.reconcileS * (reconcileS > before.reconcileS ? 1 + step : 1 / (1 + step));
  return { reconcileS: Math.max(SHORTEST_S, moved), observations: before.observations + 1 };
}

/** How many times as long as usual comparisons took. `undefined` while the usual time is not known. */
export function ratioToBaseline(baseline: Baseline | undefined, { reconcileS }: Signals): number | undefined {
  return baseline === undefined || baseline.observations < LEARNT || reconcileS === undefined
    ? undefined
    : reconcileS / baseline.reconcileS;
}
