import { type Millis, millis } from "../domain/clock.ts";
import type { InstanceVerdict, VerdictState } from "../domain/health.ts";
import type { Instance } from "../domain/instance.ts";
import { filledOf } from "./next-remedy.ts";

/**
 * How long a workspace waits for its first comparison before it is placed again, in ms. Its instance must have done
 * no work for as long.
 */
export const PLACE_AGAIN_AFTER_MS = 60_000;
/** Least time between a failed move away from the instance and the next request for one, in ms. */
export const APART_MS = 10 * 60_000;

/** Why workspaces that an instance never compared leave it, for people, and which of them do. */
export interface PlacedAgain {
  readonly why: string;
  readonly madeBefore: Millis;
  readonly notMovedSince: Millis;
}

const DOES_NO_WORK: readonly VerdictState[] = ["stalled", "failed"];

/**
 * Decides whether workspaces that an instance has never compared with Git are placed again: they are once it has been
 * stalled or failed for a minute. `undefined`: they stay. They also stay on an instance that is drained or being
 * changed, where the drain or the change takes care of them, on one whose state is unknown, and on one whose repo-server is filled again
 * and again.
 */
export function whyPlaceAgain(instance: Instance, verdict: InstanceVerdict, now: Millis): PlacedAgain | undefined {
  const { name, state, version, desiredVersion } = instance;
  // It works after each restart, and one of those that it never compared may be who fills it: the next instance would be filled too.
  if (filledOf(verdict) !== undefined) return undefined;
  const isDrainedOrChanged = state === "DRAINING" || version !== desiredVersion;
  if (isDrainedOrChanged || !DOES_NO_WORK.includes(verdict.state) || now - verdict.since < PLACE_AGAIN_AFTER_MS) return undefined;
  const seconds = Math.round((now - verdict.since) / 1_000);
  return {
    why: `${name} never compared it with Git, and has been ${verdict.state} for ${seconds} s: ${verdict.text}`,
    madeBefore: millis(now - PLACE_AGAIN_AFTER_MS),
    notMovedSince: millis(now - APART_MS),
  };
}
