import type { Metrics } from "../../telemetry/metrics.ts";
import { OBSERVE_AGAIN_MS } from "./outcome.ts";

/** How often probes are repeated. */
export interface ProbePace {
  /** The time between two probes of one credential, in ms: ten minutes, or longer where that is more than can be done. */
  periodMs(): number;
  /** A probe has taken so long, in ms. */
  took(ms: number): void;
}

/**
 * Which part of the time that probes may run in goes to repeated ones. The rest is for those that users wait for, and for the proofs that applications
 * need once an hour.
 */
const SHARE = 0.5;
/** How much one more probe changes the mean of their durations. */
const WEIGHT = 0.02;
/** How long a probe takes before any has ended, in ms: one of a near host takes a third of a second. */
const FIRST_GUESS_MS = 300;

/** Measures how long probes take. `known`: how many credentials are probed again and again. */
export function createProbePace(of: {
  readonly observationsAtOnce: number;
  readonly known: () => number;
  readonly metrics: Metrics;
}): ProbePace {
  let meanMs = FIRST_GUESS_MS;
  const periodMs = (): number => Math.max(OBSERVE_AGAIN_MS, (of.known() * meanMs) / (of.observationsAtOnce * SHARE));
  of.metrics
    .gauge(
      "argosy_repository_probe_period_seconds",
      "Time between two probes of one repository credential: ten minutes unless there are too many.",
    )
    .collect(() => [{ value: periodMs() / 1_000 }]);
  return {
    periodMs,
    took(ms) {
      meanMs += WEIGHT * (ms - meanMs);
    },
  };
}
