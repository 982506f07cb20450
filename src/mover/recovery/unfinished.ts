import type { MemberId } from "../../domain/ids.ts";

/**
 * Stands among the members from when a recovery begins to write until it has ended, whatever becomes of its process: epochs are as new as
 * can be after its first step, while what rows say of owners is believed only after its last.
 */
export const UNFINISHED = "unfinished-recovery" as MemberId;
/** What it does there. */
export const UNFINISHED_ROLE = "unfinished-recovery";
/** Until somebody ends it. In ms. */
export const FOR_GOOD_MS = 100 * 365 * 24 * 3_600_000;

/** Whether a recovery began and has not ended, as whoever is alive by role shows. */
export function isRecovering(live: ReadonlyMap<string, readonly MemberId[]>): boolean {
  return live.has(UNFINISHED_ROLE);
}

/** Those of who is alive that are processes. */
export function processesOf(live: ReadonlyMap<string, readonly MemberId[]>): readonly MemberId[] {
  return [...new Set([...live.values()].flat())].filter((id) => id !== UNFINISHED);
}
