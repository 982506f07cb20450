import { BLOCKED_AFTER_MS } from "../domain/blockage.ts";
import type { Millis } from "../domain/clock.ts";
import type { ObservedApplication } from "./parse-application.ts";

/** Whether the deletion of an Application has been under way for suspiciously long. */
export function isBlocked(observed: ObservedApplication, now: Millis, afterMs = BLOCKED_AFTER_MS): boolean {
  return observed.deletingSince !== undefined && now - observed.deletingSince > afterMs;
}
