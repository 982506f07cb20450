import type { Millis } from "../domain/clock.ts";
import { isUnderWay, type ObservedSync } from "./parse-sync.ts";

/** For how long after its application passed to another unit a sync is waited for, in ms: one that hangs holds nothing up. */
const WAIT_MS = 2 * 60_000;

/**
 * Of Applications that have passed from one unit to another, one whose sync has to end before the first unit's account loses its right; `undefined`: none
 * has to. A sync that was begun before `since`, when they were seen to have passed, may be carried out as that account, and would be refused in the middle. It is
 * waited for up to two minutes; after that it is refused, and tried again as the other unit's account.
 */
export function syncToAwait<T extends { readonly sync: ObservedSync }>(
  passed: readonly T[],
  { since, now }: { readonly since: Millis; readonly now: Millis },
): T | undefined {
  return now - since > WAIT_MS ? undefined : passed.find(({ sync }) => isBegunBefore(sync, since));
}

/** By the instance's clock, in whole seconds. What waits for its next attempt is not carried out: an attempt begins with the Application as it is then. */
function isBegunBefore({ state }: ObservedSync, time: Millis): boolean {
  return state !== undefined && isUnderWay(state) && state.finishedAt === undefined && (state.startedAt ?? 0) < time;
}
