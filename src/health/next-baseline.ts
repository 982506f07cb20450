import type { Baseline, Signals } from "../domain/health.ts";

/** Shorter times count as this one, in s. Measured: 0.016 to 0.023 on a healthy instance of small applications. */
const SHORTEST_S = 0.02;
/**
 * By which share one probe changes a baseline, from the 250th probe on. 350 probes that are all above it, or all below,
 * change it two-fold; with the default period they take an hour and a half.
 */
const STEP = 0.002;
/** How many probes a baseline needs before measurements are compared with it. */
const LEARNT = 20;

/**
 * How long a comparison usually takes on an instance, after one more probe. It is a running median: it takes a small step
 * towards each measurement, and larger steps at first (frugal streaming, Ma, Muthukrishnan and Sandler 2013). The
 * baseline stays as it was where there is no measurement, while comparisons or canaries wait, and in a controller's first
 * `graceMs`. A controller of unknown uptime counts as just started; of the other signals, an unknown one counts as calm.
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

/**
 * By which factor comparisons took longer than usual. `undefined`: too few probes have gone into the baseline, or nothing
 * was measured.
 */
export function ratioToBaseline(baseline: Baseline | undefined, { reconcileS }: Signals): number | undefined {
  return baseline === undefined || baseline.observations < LEARNT || reconcileS === undefined
    ? undefined
    : reconcileS / baseline.reconcileS;
}
