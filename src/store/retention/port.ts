import type { Millis } from "../../domain/clock.ts";

/** A position in the journal: a walk goes on after the entry with this time and id. */
export interface JournalPosition {
  readonly at: Millis;
  readonly id: string;
}

/**
 * Deletes rows of what ended long ago, and credentials of what is gone. A method deletes at most `limit` rows of its kind and
 * returns how many. Fewer than `limit` means that no more are left, except those that another call is deleting. Several
 * processes may call at the same time: a call skips rows that another one has locked, so no row is counted twice.
 */
export interface RetentionStore {
  /** Removes operations that were completed before `before`. */
  forgetOperations(before: Millis, limit: number, signal: AbortSignal): Promise<number>;
  /**
   * Removes plans that expired before `before`, with their steps. Returns the number of plans. When it is smaller than `limit`,
   * the call has also removed all records of changes of owner made before `before`, without a limit.
   */
  forgetPlans(before: Millis, limit: number, signal: AbortSignal): Promise<number>;
  /** Removes live moves that ended before `before`. */
  forgetMoves(before: Millis, limit: number, signal: AbortSignal): Promise<number>;
  /** Removes records of applications whose cascading deletion ended before `before`. */
  forgetEnded(before: Millis, limit: number, signal: AbortSignal): Promise<number>;
  /**
   * Removes what instances took in hours that began before `before`, with marks of instances that were accounted for last
   * before it, and labels of workspaces that were seen to be gone before it. Returns the number of hours' rows.
   */
  forgetUsage(before: Millis, limit: number, signal: AbortSignal): Promise<number>;
  /**
   * Reads the next `limit` journal entries made before `before`, oldest first, and removes those that are no longer needed. While
   * a subject (a unit, an instance, a workspace …) exists, its newest entry of each kind stays, however old it is. Returns how
   * many were removed (0 does not mean the end), and the position for the next call; `next` is `undefined` at the end.
   */
  forgetDecisions(
    step: { readonly before: Millis; readonly limit: number; readonly after: JournalPosition | undefined },
    signal: AbortSignal,
  ): Promise<{ readonly forgotten: number; readonly next: JournalPosition | undefined }>;
  /**
   * Removes the oldest audit records, all up to the first that was made at `before` or later, and at most `limit`. Another record says first
   * what the last of them was and its hash, so that the trail goes on from there. Nothing younger than 30 days goes, whatever `before` is.
   */
  forgetAudit(before: Millis, limit: number, signal: AbortSignal): Promise<number>;
  /**
   * Removes sealed credentials, of any age, that belong to nothing: their workspace or instance is gone, or their environment or
   * repository credential is.
   */
  forgetCredentials(limit: number, signal: AbortSignal): Promise<number>;
}
