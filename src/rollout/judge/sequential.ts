import type { SyncCounts } from "../../domain/rollout.ts";

/** `open`: too few syncs to tell. */
export type SequentialJudgement = "pass" | "fail" | "open";

/** Syncs that fail under a good release, because users change things, and under one that has to be stopped. */
const GOOD = 0.01;
const BAD = 0.05;

/**
 * Failures at which a release fails, as a line over the syncs that have ended: 5.2 + 0.011 n up to 300 syncs, and steeper from there on. It
 * may be asked after each sync, for ever: what a good release comes to is 0.61 % of false alarms in 300 syncs and 0.94 % ever, and a bad
 * one is stopped within 300 in 97.1 % of cases (computed exactly, over all ways in which failures can fall; the test repeats it). Wald's
 * own boundary (SPRT) with as few false alarms stops 95.7 %: it has no last sync in view, so it is lower where failures are dear.
 */
const START = 5.2;
const SLOPE = 0.011;
const HORIZON = 300;
/** Between both rates, where a failure and the successes beside it speak for neither: beyond the horizon nothing drifts into the line. */
const LATER_SLOPE = 0.025;

export function failureLine(done: number): number {
  return START + SLOPE * Math.min(done, HORIZON) + LATER_SLOPE * Math.max(0, done - HORIZON);
}

const FAILURE = Math.log(BAD / GOOD);
const SUCCESS = Math.log((1 - BAD) / (1 - GOOD));
/** A bad release looks this good in one case of a hundred (A. Wald, Sequential tests of statistical hypotheses, 1945). */
const PASS = Math.log(0.01);

/** How much more likely the syncs are under a bad release than under a good one, as a logarithm: above 0 they speak against it. */
export function evidenceAgainst({ done, failed }: SyncCounts): number {
  return failed * FAILURE + (done - failed) * SUCCESS;
}

/** Judges a release by its syncs so far: 112 without a failure are enough to pass, and 6 failures in a row to fail. */
export function judgeSyncs(counts: SyncCounts): SequentialJudgement {
  if (counts.failed >= failureLine(counts.done)) return "fail";
  return evidenceAgainst(counts) <= PASS ? "pass" : "open";
}
