import { type Millis, millis } from "../domain/clock.ts";
import type { InstanceVerdict, VerdictState } from "../domain/health.ts";
import type { Instance } from "../domain/instance.ts";

/** So long a workspace waits for its first comparison before it is placed again, in ms; and so long its instance has to have done no work. */
export const PLACE_AGAIN_AFTER_MS = 60_000;
/** After a move away from the instance that came to nothing, the next one is asked for this much later at the earliest, in ms. */
export const APART_MS = 10 * 60_000;

/** Why workspaces that an instance never compared leave it, in words for people, and which of them do. */
export interface PlacedAgain {
  readonly why: string;
  readonly madeBefore: Millis;
  readonly notMovedSince: Millis;
}

const DOES_NO_WORK: readonly VerdictState[] = ["stalled", "failed"];

/**
 * Whether what an instance was given, and has never compared with Git, is placed again: where it has been judged stalled or failed for a
 * minute. `undefined`: it stays. So it does on an instance that is emptied or changed, which has its own way, and on one of which
 * nobody can tell.
 */
export function whyPlaceAgain(instance: Instance, verdict: InstanceVerdict, now: Millis): PlacedAgain | undefined {
  const { name, state, version, desiredVersion } = instance;
  const isItsOwnWay = state === "DRAINING" || version !== desiredVersion;
  if (isItsOwnWay || !DOES_NO_WORK.includes(verdict.state) || now - verdict.since < PLACE_AGAIN_AFTER_MS) return undefined;
  const seconds = Math.round((now - verdict.since) / 1_000);
  return {
    why: `${name} never compared it with Git, and has been ${verdict.state} for ${seconds} s: ${verdict.text}`,
    madeBefore: millis(now - PLACE_AGAIN_AFTER_MS),
    notMovedSince: millis(now - APART_MS),
  };
}
