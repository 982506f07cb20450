import { z } from "zod";
import type { Millis } from "../domain/clock.ts";
import type { MoveId } from "../domain/ids.ts";
import { MOVE_PHASES, type Move, type MovePhase } from "../domain/move.ts";
import { gapMs } from "../domain/move-times.ts";
import type { CarriedStep } from "../domain/plan.ts";
import { countPlanStates, progressOf, STEP_STATES, type StepProgress } from "../domain/plan-progress.ts";

/** How far one step of a plan is. */
export const stepView = z.object({
  unit: z.string(),
  workspace: z.string().describe("its namespace when the plan was made"),
  from: z.string().nullable().describe("name of the instance; null: it had none"),
  to: z.string().nullable().describe("null: no instance had room"),
  state: z.enum(STEP_STATES),
  why: z.string().describe("what it waits for, or why it was refused"),
  move: z.string().nullable().describe("its live move"),
  phase: z.enum(MOVE_PHASES).nullable(),
  phaseMs: z.number().int().nullable().describe("for how long its move has been in that phase, while it has not ended"),
});

/** How far a plan is that is carried out. */
export const progressView = z
  .object({
    moved: z.number().int(),
    underWay: z.number().int(),
    waiting: z.number().int().describe("asked for, not begun: budgets hold them up"),
    refused: z.number().int().describe("left where they are, or given up"),
    phases: z.array(z.object({ phase: z.enum(MOVE_PHASES), moves: z.number().int() })).describe("of what is under way"),
    longestGapMs: z.number().int().nullable().describe("longest time for which one of them had no owner, so far"),
    steps: z.array(stepView),
  })
  .meta({ id: "PlanProgress" });
export type ProgressView = z.infer<typeof progressView>;
export type StepView = z.infer<typeof stepView>;

/** The live moves that steps asked for, by their ids. */
export function movesById(moves: readonly Move[]): ReadonlyMap<MoveId, Move> {
  return new Map(moves.map((move) => [move.id, move]));
}

export function progressViewOf(
  steps: readonly CarriedStep[],
  {
    moves,
    nameOf,
    now,
  }: { readonly moves: ReadonlyMap<MoveId, Move>; readonly nameOf: (instance: string) => string; readonly now: Millis },
): ProgressView {
  const progress = progressOf(steps, moves);
  const { moved, waiting, refused, "under-way": underWay } = countPlanStates(progress);
  const gaps = progress.flatMap(({ move }) => (move === undefined ? [] : (gapMs(move, now) ?? [])));
  return {
    ...{ moved, underWay, waiting, refused, phases: phasesOf(progress) },
    longestGapMs: gaps.length === 0 ? null : Math.max(...gaps),
    steps: progress.map((each) => stepViewOf(each, nameOf, now)),
  };
}

function phasesOf(progress: readonly StepProgress[]): ProgressView["phases"] {
  const present = progress.flatMap(({ state, move }) => (state === "under-way" && move !== undefined ? [move.phase] : []));
  const count = (phase: MovePhase): number => present.filter((each) => each === phase).length;
  return MOVE_PHASES.flatMap((phase) => (count(phase) === 0 ? [] : [{ phase, moves: count(phase) }]));
}

function stepViewOf({ step, state, why, move }: StepProgress, nameOf: (instance: string) => string, now: Millis): StepView {
  const { unit, name, from, to } = step;
  return {
    ...{ unit, workspace: name, state, why, move: step.move ?? null, phase: move?.phase ?? null },
    phaseMs: move === undefined || move.endedAt !== undefined ? null : Math.max(0, now - move.phaseSince),
    from: from === undefined ? null : nameOf(from),
    to: to === undefined ? null : nameOf(to),
  };
}

/** A plan's progress as sentences. */
export function progressText({ moved, underWay, waiting, refused, steps }: ProgressView): readonly string[] {
  if (steps.length === 0) return [];
  const left = steps.filter(({ state }) => state === "refused");
  return [
    `carried out: ${moved} moved, ${underWay} under way, ${waiting} wait for their turn, ${refused} refused`,
    ...left.map(({ workspace, from, to, why }) => `  ${workspace}: ${from ?? "nowhere"} → ${to ?? "nowhere"}, left: ${why}`),
  ];
}
