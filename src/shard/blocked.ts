import type { Millis } from "../domain/clock.ts";
import type { ObservedApplication } from "./parse-application.ts";

/** How long the end of an Application may take before somebody should look: hooks and finalizers of workloads need minutes. */
const BLOCKED_AFTER_MS = 5 * 60_000;

/** Whether the deletion of an Application has been under way for suspiciously long. */
export function isBlocked(observed: ObservedApplication, now: Millis): boolean {
  return observed.deletingSince !== undefined && now - observed.deletingSince > BLOCKED_AFTER_MS;
}
