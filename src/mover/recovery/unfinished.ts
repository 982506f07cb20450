import type { MemberId } from "../../domain/ids.ts";
import type { MemberStore } from "../../store/member/port.ts";

/**
 * Stands among the members from when a recovery begins to write until it has ended, whatever becomes of its process: epochs are as new as
 * can be after its first step, while what rows say of owners is believed only after its last.
 */
const UNFINISHED = "unfinished-recovery" as MemberId;
const ROLE = "unfinished-recovery";
/** Until somebody ends it. In ms. */
const FOR_GOOD_MS = 100 * 365 * 24 * 3_600_000;

export async function beginRecovery(members: Pick<MemberStore, "heartbeat">, signal: AbortSignal): Promise<void> {
  await members.heartbeat(UNFINISHED, [ROLE], FOR_GOOD_MS, signal);
}

export async function endRecovery(members: Pick<MemberStore, "leave">, signal: AbortSignal): Promise<void> {
  await members.leave(UNFINISHED, signal);
}

/** Whether a recovery began and has not ended, as whoever is alive by role shows. */
export function isRecovering(live: ReadonlyMap<string, readonly MemberId[]>): boolean {
  return live.has(ROLE);
}

/** Those of who is alive that are processes. */
export function processesOf(live: ReadonlyMap<string, readonly MemberId[]>): readonly MemberId[] {
  return [...new Set([...live.values()].flat())].filter((id) => id !== UNFINISHED);
}
