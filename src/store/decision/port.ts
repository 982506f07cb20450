import type { Decision } from "../../domain/decision.ts";

/** The append-only journal. */
export interface DecisionStore {
  append(decisions: readonly Decision[], signal: AbortSignal): Promise<void>;
  /** Newest first. */
  list(
    filter: { readonly subject?: string; readonly kind?: Decision["kind"] },
    limit: number,
    signal: AbortSignal,
  ): Promise<readonly Decision[]>;
}
