import type { Millis } from "../../domain/clock.ts";
import type { Decision } from "../../domain/decision.ts";

/** Absent members let everything through. */
export interface DecisionFilter {
  readonly subject?: string;
  /** Any of these; none of them lets nothing through. */
  readonly subjects?: readonly string[];
  readonly kind?: Decision["kind"];
  readonly verdict?: string;
  /** Not older than this. */
  readonly since?: Millis;
}

/** The append-only journal. */
export interface DecisionStore {
  append(decisions: readonly Decision[], signal: AbortSignal): Promise<void>;
  /** Newest first. */
  list(filter: DecisionFilter, limit: number, signal: AbortSignal): Promise<readonly Decision[]>;
}
