import type { MoveReason } from "../../domain/plan.ts";
import type { Urgency } from "./budget.ts";
import type { Cause } from "./record.ts";

/** An instance that is too full, and how far it should come down. */
export interface Relief {
  readonly seat: number;
  readonly urgency: Urgency;
  readonly reason: MoveReason;
  /** Utilisation to come down to, ppm. */
  readonly target: number;
  /** Bounds for where its units go, in the order they are tried. */
  readonly bounds: readonly number[];
  readonly cause: Cause;
}

/** The dimension in which an instance is fullest above its target, and by how much. */
export interface Excess {
  readonly dimension: number;
  readonly amount: number;
}
