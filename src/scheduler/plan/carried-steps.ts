import type { Millis } from "../../domain/clock.ts";
import type { InstanceId } from "../../domain/ids.ts";
import type { Move } from "../../domain/move.ts";
import { PHASES } from "../../domain/move-phases.ts";
import type { CarriedStep, PlannedMove, StoredPlan } from "../../domain/plan.ts";
import { refusalText } from "../refusal-text.ts";
import { planNames } from "./plan-names.ts";
import type { PlanDocument } from "./report.ts";

/** What carrying a plan out has come to so far. */
export interface CarriedBefore {
  readonly steps: readonly CarriedStep[];
  /** Live moves that the plan asked for. */
  readonly moves: readonly Move[];
}

/** The outcome that a step had before, if that still stands: it was made, or is being made. `undefined`: it has to be tried. */
export function stepBefore(fresh: CarriedStep, { steps, moves }: CarriedBefore): CarriedStep | undefined {
  const step = steps.find(({ unit }) => unit === fresh.unit);
  if (step?.outcome === "moved") return step;
  const move = moves.find(({ unitId, phase }) => unitId === fresh.unit && phase !== "ABORTED");
  return move === undefined ? undefined : { ...fresh, outcome: "asked", move: move.id };
}

/** A step of which nothing has come yet. */
export function carriedStepOf({ unit, from, to, reason }: PlannedMove, plan: StoredPlan): CarriedStep {
  return { unit, name: planNames(plan).unit(unit), from, to, reason, outcome: "dropped", why: "", move: undefined };
}

/** The units that must leave their instance and for which the plan found no other one. */
export function unplaceableSteps({ report }: Pick<StoredPlan, "report">): readonly CarriedStep[] {
  const { unplaceable, names } = report as unknown as PlanDocument;
  const nameOf = (id: string): string => names.instances[id] ?? id;
  return unplaceable.flatMap(({ units, cause, answer }) => {
    if (cause.rule !== "MAY_NOT_STAY") return [];
    const refused = answer.refusals.map((refusal) => `${nameOf(refusal.instance)}: ${refusalText(refusal, nameOf)}`);
    const why = ["no instance can take it", ...refused].join("; ");
    return units.map((unit): CarriedStep => {
      return {
        unit,
        name: names.units[unit] ?? unit,
        from: cause.offer.id,
        to: undefined,
        reason: "FORCED",
        outcome: "dropped",
        why,
        move: undefined,
      };
    });
  });
}

/** Whether every step came to what is recorded of it already: then there is nothing new to record. */
export function areStepsRecorded(before: readonly CarriedStep[], after: readonly CarriedStep[]): boolean {
  const known = new Map(before.map((step) => [step.unit, textOf(step)]));
  return after.every((step) => known.get(step.unit) === textOf(step));
}

function textOf({ to, outcome, why, move }: CarriedStep): string {
  return `${to ?? "-"} ${outcome} ${move ?? "-"} ${why}`;
}

/** The steps that leave the instance `only`; all steps if none is given. */
export function leaving<T extends { readonly from: InstanceId | undefined }>(
  steps: readonly T[],
  only: InstanceId | undefined,
): readonly T[] {
  return only === undefined ? steps : steps.filter(({ from }) => from === only);
}

/** All steps of the exchange that a step belongs to, in both directions and itself included; empty if it belongs to none. */
export function exchangeOf(move: PlannedMove, moves: readonly PlannedMove[]): readonly PlannedMove[] {
  if (move.reason !== "SWAP") return [];
  const ends = [move.from, move.to];
  return moves.filter(({ reason, from, to }) => reason === "SWAP" && from !== to && ends.includes(from) && ends.includes(to));
}

/** The steps of an exchange that leave the instance to which a step goes. */
export function partnersOf(move: PlannedMove, exchange: readonly PlannedMove[]): readonly PlannedMove[] {
  return exchange.filter(({ from }) => from === move.to);
}

/** The steps that leave the instance `only`, with the other halves of their exchanges; all steps if none is given. */
export function concerning(moves: readonly PlannedMove[], only: InstanceId | undefined): readonly PlannedMove[] {
  if (only === undefined) return moves;
  return moves.filter(({ from, to, reason }) => from === only || (reason === "SWAP" && to === only));
}

/** Whether a plan may still have steps to follow up: it was carried out, has not expired, and has exchanges. */
export function mayFollowUp({ appliedAt, expiresAt, moves }: StoredPlan, at: Millis): boolean {
  return appliedAt !== undefined && expiresAt > at && moves.some(({ reason }) => reason === "SWAP");
}

/** The steps that had to wait until the other half of their exchange had left, and need not wait any more. */
export function followersOf(plan: StoredPlan, before: CarriedBefore): readonly PlannedMove[] {
  return plan.moves.filter((move) => {
    if (stepBefore(carriedStepOf(move, plan), before) !== undefined) return false;
    return partnersOf(move, exchangeOf(move, plan.moves)).some(({ unit }) => hasLeft(unit, before));
  });
}

function hasLeft(unit: PlannedMove["unit"], { steps, moves }: CarriedBefore): boolean {
  if (steps.some((step) => step.unit === unit && step.outcome === "moved")) return true;
  return moves.some(
    (move) => move.unitId === unit && !PHASES[move.phase].isRevocable && move.phase !== "ABORT" && move.phase !== "ABORTED",
  );
}
