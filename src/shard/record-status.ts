import type { Millis } from "../domain/clock.ts";
import type { RecordedStatus } from "../domain/status.ts";
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
const LOOK_EVERY_MS = 10 * 60_000;

/** What is to be recorded of an Application now; `undefined` when it says nothing new, or does not say whose it is. */
export function statusToRecord(observed: ObservedApplication, last: LastRecord | undefined): RecordedStatus | undefined {
  const { report, epoch } = observed;
  const applicationId = applicationOf(observed);
  const instanceId = holderOf(observed);
  if (report === undefined || epoch === undefined || applicationId === undefined || instanceId === undefined) return undefined;
  const isKnown = last !== undefined && last.hash === report.hash && last.epoch === epoch;
  if (isKnown && (report.reconciledAt ?? 0) - (last.reconciledAt ?? 0) < LOOK_EVERY_MS) return undefined;
  return { applicationId, instanceId, epoch, status: report.status, reconciledAt: report.reconciledAt, hash: report.hash };
}
