import type { Millis } from "../domain/clock.ts";
import type { RecordedStatus } from "../domain/status.ts";
import { ANNOTATION_ARRIVING } from "./names.ts";
import type { ObservedApplication } from "./parse-application.ts";
import { applicationOf, holderOf } from "./parse-application.ts";

/** What was last recorded of an Application. */
export interface LastRecord {
  readonly hash: string;
  readonly epoch: number;
  readonly reconciledAt: Millis | undefined;
}

/**
 * Argo CD looks at every application once in two to three minutes even if nothing happens. Recording each look would be the
 * largest load of an idle fleet and tell nobody anything; the time of the last look is refreshed this seldom.
 */
const OBSERVE_EVERY_MS = 10 * 60_000;

/** What is to be recorded of an Application now; `undefined` when it says nothing new, or does not say whose it is. */
export function statusToRecord(observed: ObservedApplication, last: LastRecord | undefined): RecordedStatus | undefined {
  const { report, epoch } = observed;
  // What a copy says before it works is what it was given.
  if (observed.annotations[ANNOTATION_ARRIVING] !== undefined) return undefined;
  const applicationId = applicationOf(observed);
  const instanceId = holderOf(observed);
  if (report === undefined || epoch === undefined || applicationId === undefined || instanceId === undefined) return undefined;
  const isKnown = last !== undefined && last.hash === report.hash && last.epoch === epoch;
  if (isKnown && (report.reconciledAt ?? 0) - (last.reconciledAt ?? 0) < OBSERVE_EVERY_MS) return undefined;
  const { status, reconciledAt, hash } = report;
  return { applicationId, instanceId, epoch, status, reconciledAt, hash, version: versionOf(observed) };
}

/** API servers promise whole numbers that grow; one that gives others says nothing about which came first. */
function versionOf({ resourceVersion }: ObservedApplication): number | undefined {
  return /^\d{1,15}$/.test(resourceVersion) ? Number(resourceVersion) : undefined;
}

/** Looks are recorded together at full minutes, in ms since the epoch: of 25,000 applications one by one, forty statements a second. */
const TOGETHER_EVERY_MS = 60_000;
/** How late after the full minute a look still counts as one of those. */
const TOGETHER_WITHIN_MS = 5_000;

/** How long a status to record waits for others, in ms: a mere look until the next full minute, news not at all. */
export function waitForOthersMs({ hash, epoch }: RecordedStatus, last: LastRecord | undefined, now: Millis): number {
  if (last?.hash !== hash || last.epoch !== epoch) return 0;
  const sinceMs = now % TOGETHER_EVERY_MS;
  return sinceMs <= TOGETHER_WITHIN_MS ? 0 : TOGETHER_EVERY_MS - sinceMs;
}
