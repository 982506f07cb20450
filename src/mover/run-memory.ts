import type { MovePhase } from "../domain/move.ts";
import type { Visited } from "./visits.ts";

/** What one run of a move remembers from step to step: it looks for the target's objects, and goes to environments, once in each phase. */
export interface RunMemory {
  /** As `MoveWorld` has it. */
  groundWaits: readonly string[] | undefined;
  /** An environment that the source of a fail-over may enter with what nobody can take from it. */
  enteredFreely?: string | undefined;
  /** What came of visits to environments, and in which phase. */
  visits?: { readonly phase: MovePhase; readonly ends: readonly Visited[] };
}

/** What a run comes to: when to look again; without that nothing is to be done for the move, now or, where it is over, at all. */
export interface Carried {
  readonly requeueAfterMs?: number;
  readonly isOver?: boolean;
}
