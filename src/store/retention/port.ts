import type { Millis } from "../../domain/clock.ts";

/** Where a walk through the journal stands: after which entry it goes on. */
export interface JournalPosition {
  readonly at: Millis;
  readonly id: string;
}

/**
 * Forgets what ended long ago, in bounded steps. Any number may do so at once: nothing is forgotten twice, and nobody waits for a
 * row that another step holds.
 */
export interface RetentionStore {
  /** Removes at most `limit` operations that were completed before; returns how many. Less than `limit`: there are no more. */
  forgetOperations(before: Millis, limit: number, signal: AbortSignal): Promise<number>;
  /** Removes at most `limit` plans that expired before, and with the last of them moves made before; returns how many plans. */
  forgetPlans(before: Millis, limit: number, signal: AbortSignal): Promise<number>;
  /** Removes at most `limit` live moves that ended before; returns how many. Less than `limit`: there are no more. */
  forgetMoves(before: Millis, limit: number, signal: AbortSignal): Promise<number>;
  /** Removes at most `limit` notes of applications that a cascade ended before; returns how many. Less than `limit`: there are no more. */
  forgetEnded(before: Millis, limit: number, signal: AbortSignal): Promise<number>;
  /**
   * Goes through the next `limit` entries of the journal that were made before, oldest first, and removes those that nothing rests
   * on: of each unit, instance and declaration that is still there, the newest of its kind stays however old it is. Returns how many
   * went, and where to go on; `undefined` at the end.
   */
  forgetDecisions(
    step: { readonly before: Millis; readonly limit: number; readonly after: JournalPosition | undefined },
    signal: AbortSignal,
  ): Promise<{ readonly forgotten: number; readonly next: JournalPosition | undefined }>;
  /**
   * Removes at most `limit` sealed credentials that belong to nothing: their workspace or instance is gone, or the environment or
   * repository credential they are of. Returns how many. Less than `limit`: there are no more.
   */
  forgetCredentials(limit: number, signal: AbortSignal): Promise<number>;
}
