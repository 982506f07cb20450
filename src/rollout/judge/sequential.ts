import type { SyncCounts } from "../../domain/rollout.ts";

/** `open`: too few syncs to decide. */
export type SequentialJudgement = "pass" | "fail" | "open";

/** Shares of failing syncs: of a good release, where users' changes make some fail, and of one that has to be stopped. */
const GOOD = 0.01;
const BAD = 0.05;

/**
 * The number of failures at which a release fails, as a line over the number of syncs: 5.2 + 0.011 n up to 300 syncs,
 * and steeper after that. A release may be judged after each sync, for ever. A good one is stopped within 300 syncs
 * in 0.61 % of cases, and ever in 0.94 %. A bad one is stopped within 300 syncs in 97.1 % of cases. These numbers are
 * exact, computed over all orders of failures; the test computes them again. Wald's own boundary (SPRT) with as few
 * false alarms stops 95.7 % of bad ones, because it does not use the limit of 300 syncs.
 */
const START = 5.2;
const SLOPE = 0.011;
const HORIZON = 300;
/**
 * A slope between both rates. At this rate failures speak neither for nor against the release, so after 300 syncs
 * chance alone does not reach the line.
 */
const LATER_SLOPE = 0.025;

export function failureLine(done: number): number {
  return START + SLOPE * Math.min(done, HORIZON) + LATER_SLOPE * Math.max(0, done - HORIZON);
}

const FAILURE = Math.log(BAD / GOOD);
const SUCCESS = Math.log((1 - BAD) / (1 - GOOD));
/** A bad release passes in at most one case of a hundred (A. Wald, Sequential tests of statistical hypotheses, 1945). */
const PASS = Math.log(0.01);

/**
 * How much more likely these syncs are under a bad release than under a good one, as a logarithm. Above 0 they speak
 * against it.
 */
export function evidenceAgainst({ done, failed }: SyncCounts): number {
  return failed * FAILURE + (done - failed) * SUCCESS;
}

/** Judges a release by its syncs so far. 112 syncs without a failure are enough to pass, 6 failures in a row to fail. */
export function judgeSyncs(counts: SyncCounts): SequentialJudgement {
  if (counts.failed >= failureLine(counts.done)) return "fail";
  return evidenceAgainst(counts) <= PASS ? "pass" : "open";
}
