import type { Millis } from "../domain/clock.ts";
import type { RecordedRefresh, RecordedStatus } from "../domain/status.ts";
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
 * Argo CD refreshes every application once in two to three minutes even if nothing happens. Recording each refresh would be the
 * largest load of an idle fleet and be of use to nobody; the time of the last refresh is recorded this seldom.
 */
const OBSERVE_EVERY_MS = 10 * 60_000;

/** What is to be recorded of an Application. `unread`: its status was let go of and has to be read again. */
export type ToRecord =
  | { readonly kind: "status"; readonly status: RecordedStatus }
  | { readonly kind: "refresh"; readonly refresh: RecordedRefresh }
  | { readonly kind: "unread" };

/** What is to be recorded of an Application now; `undefined` when it says nothing new, or does not say whose it is. */
export function whatToRecord(observed: ObservedApplication, last: LastRecord | undefined): ToRecord | undefined {
  const { report, epoch } = observed;
  // What a copy says before it works is what it was given.
  if (observed.annotations[ANNOTATION_ARRIVING] !== undefined) return undefined;
  const applicationId = applicationOf(observed);
  const instanceId = holderOf(observed);
  if (report === undefined || epoch === undefined || applicationId === undefined || instanceId === undefined) return undefined;
  const { unrecorded: status, reconciledAt, hash } = report;
  const refresh = { applicationId, instanceId, epoch, reconciledAt, hash, version: versionOf(observed) };
  if (last !== undefined && last.hash === hash && last.epoch === epoch)
    return (reconciledAt ?? 0) - (last.reconciledAt ?? 0) < OBSERVE_EVERY_MS ? undefined : { kind: "refresh", refresh };
  return status === undefined ? { kind: "unread" } : { kind: "status", status: { ...refresh, status } };
}

/** API servers promise whole numbers that grow; one that gives others says nothing about which came first. */
function versionOf({ resourceVersion }: ObservedApplication): number | undefined {
  return /^\d{1,15}$/.test(resourceVersion) ? Number(resourceVersion) : undefined;
}

/** Refreshes are recorded together at full minutes, in ms since the epoch: of 25,000 applications one by one, forty statements a second. */
const TOGETHER_EVERY_MS = 60_000;
/** How late after the full minute a refresh still counts as one of those. */
const TOGETHER_WITHIN_MS = 5_000;

/** How long a refresh waits for others, in ms: until the next full minute. */
export function waitForOthersMs(now: Millis): number {
  const sinceMs = now % TOGETHER_EVERY_MS;
  return sinceMs <= TOGETHER_WITHIN_MS ? 0 : TOGETHER_EVERY_MS - sinceMs;
}
