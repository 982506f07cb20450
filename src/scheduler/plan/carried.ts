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

/** What a step came to when the plan was carried out before, if that stands: it was made, or is being made. `undefined`: it is to be tried. */
export function stepBefore(fresh: CarriedStep, { steps, moves }: CarriedBefore): CarriedStep | undefined {
  const step = steps.find(({ unit }) => unit === fresh.unit);
  if (step?.outcome === "moved") return step;
  const move = moves.find(({ unitId, phase }) => unitId === fresh.unit && phase !== "ABORTED");
  return move === undefined ? undefined : { ...fresh, outcome: "asked", move: move.id };
}

/** A step that came to nothing yet. */
export function carriedStepOf({ unit, from, to, reason }: PlannedMove, plan: StoredPlan): CarriedStep {
  return { unit, name: planNames(plan).unit(unit), from, to, reason, outcome: "dropped", why: "", move: undefined };
}

/** Units that must leave where they are and for which the plan found no seat. */
export function homelessSteps({ report }: Pick<StoredPlan, "report">): readonly CarriedStep[] {
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

/** Whether carrying a plan out again came to the same: then there is nothing new to tell. */
export function isStepSaid(before: readonly CarriedStep[], after: readonly CarriedStep[]): boolean {
  const known = new Map(before.map((step) => [step.unit, textOf(step)]));
  return after.every((step) => known.get(step.unit) === textOf(step));
}

function textOf({ to, outcome, why, move }: CarriedStep): string {
  return `${to ?? "-"} ${outcome} ${move ?? "-"} ${why}`;
}

/** Only what leaves one instance; everything, where none is named. */
export function leaving<T extends { readonly from: InstanceId | undefined }>(
  steps: readonly T[],
  only: InstanceId | undefined,
): readonly T[] {
  return only === undefined ? steps : steps.filter(({ from }) => from === only);
}

/** Every step of the exchange that a step is part of, both ways, itself among them; empty where it is part of none. */
export function exchangeOf(move: PlannedMove, moves: readonly PlannedMove[]): readonly PlannedMove[] {
  if (move.reason !== "SWAP") return [];
  const ends = [move.from, move.to];
  return moves.filter(({ reason, from, to }) => reason === "SWAP" && from !== to && ends.includes(from) && ends.includes(to));
}

/** What comes from where a step goes to. */
export function partnersOf(move: PlannedMove, exchange: readonly PlannedMove[]): readonly PlannedMove[] {
  return exchange.filter(({ from }) => from === move.to);
}

/** Only what leaves one instance, with the other half of what changes places with it; everything, where none is named. */
export function concerning(moves: readonly PlannedMove[], only: InstanceId | undefined): readonly PlannedMove[] {
  if (only === undefined) return moves;
  return moves.filter(({ from, to, reason }) => from === only || (reason === "SWAP" && to === only));
}

/** Whether something of a plan may still have to follow: it was carried out, is good, and has units that change places. */
export function isFollowed({ appliedAt, expiresAt, moves }: StoredPlan, at: Millis): boolean {
  return appliedAt !== undefined && expiresAt > at && moves.some(({ reason }) => reason === "SWAP");
}

/** Steps that could not be made before the other half of their exchange had left, which it has by now. */
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
