import type { MoveId } from "./ids.ts";
import type { Move } from "./move.ts";
import { PHASES } from "./move-phases.ts";
import type { CarriedStep } from "./plan.ts";

/**
 * How far a step of a plan is. `waiting`: its live move waits for its turn. `refused`: it was left, or its move was given up. `gone`: its
 * move is not known any more, since its workspace went.
 */
export const STEP_STATES = ["moved", "under-way", "waiting", "refused", "gone"] as const;
export type StepState = (typeof STEP_STATES)[number];

export interface StepProgress {
  readonly step: CarriedStep;
  readonly state: StepState;
  /** What it waits for, or why it was refused; empty otherwise. */
  readonly why: string;
  readonly move: Move | undefined;
}

/** How far each step that was carried out is, from the live moves that were asked for, as they are now. */
export function progressOf(steps: readonly CarriedStep[], moves: ReadonlyMap<MoveId, Move>): readonly StepProgress[] {
  return steps.map((step) => {
    const move = step.move === undefined ? undefined : moves.get(step.move);
    return { step, move, ...stateOf(step, move) };
  });
}

function stateOf({ outcome, why }: CarriedStep, move: Move | undefined): Pick<StepProgress, "state" | "why"> {
  if (outcome === "moved") return { state: "moved", why: "" };
  if (outcome === "dropped") return { state: "refused", why };
  if (move === undefined) return { state: "gone", why: "" };
  if (move.phase === "DONE" || move.phase === "REDIRECTED") return { state: "moved", why: move.message };
  if (move.phase === "ABORTED") return { state: "refused", why: move.message };
  return { state: PHASES[move.phase].isUnderWay ? "under-way" : "waiting", why: move.message };
}

/** How many steps are in each state. */
export function countPlanStates(progress: readonly Pick<StepProgress, "state">[]): Readonly<Record<StepState, number>> {
  const count = (state: StepState): number => progress.filter((each) => each.state === state).length;
  return {
    moved: count("moved"),
    "under-way": count("under-way"),
    waiting: count("waiting"),
    refused: count("refused"),
    gone: count("gone"),
  };
}
