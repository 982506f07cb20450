import type { MovePhase } from "../domain/move.ts";

const NOTHING = { atApplications: false, atRegister: false };
const APPLICATIONS = { atApplications: true, atRegister: false };
const REGISTER = { atApplications: false, atRegister: true };

/** What a phase is decided from: the rest is not read. */
export const LOOKS: Readonly<Record<MovePhase, { readonly atApplications: boolean; readonly atRegister: boolean }>> = {
  WAITING: NOTHING,
  PREPARE: APPLICATIONS,
  FENCE: APPLICATIONS,
  QUIESCE: APPLICATIONS,
  REVOKE: REGISTER,
  COMMIT: NOTHING,
  GRANT: REGISTER,
  ACTIVATE: APPLICATIONS,
  VERIFY: APPLICATIONS,
  CLEANUP: APPLICATIONS,
  ABORT: APPLICATIONS,
  DONE: NOTHING,
  ABORTED: NOTHING,
  REDIRECTED: NOTHING,
};

/** How soon a move is looked at again that waits, in ms: often while users have no owner or soon will, seldom when it takes long. */
export function lookAgainMs(phase: MovePhase, elapsedMs: number): number {
  const quick = phase === "PREPARE" || phase === "CLEANUP" || phase === "ABORT" ? 250 : 100;
  return elapsedMs < 15_000 ? quick : 1_000;
}

/** How soon API servers are asked again whether an account may write, in ms. Abroad each question takes a connection of its own, and is to be answered for longer. */
export function askAgainMs(isAbroad: boolean): number {
  return isAbroad ? 750 : 250;
}
