import type { Millis } from "../../domain/clock.ts";
import type { InstanceId } from "../../domain/ids.ts";
import { PHASES } from "../../domain/move-phases.ts";
import type { PlannedMove, StoredPlan } from "../../domain/plan.ts";
import { type Before, stepBefore, stepOf } from "./carried.ts";

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
export function followersOf(plan: StoredPlan, before: Before): readonly PlannedMove[] {
  return plan.moves.filter((move) => {
    if (stepBefore(stepOf(move, plan), before) !== undefined) return false;
    return partnersOf(move, exchangeOf(move, plan.moves)).some(({ unit }) => hasLeft(unit, before));
  });
}

function hasLeft(unit: PlannedMove["unit"], { steps, moves }: Before): boolean {
  if (steps.some((step) => step.unit === unit && step.outcome === "moved")) return true;
  return moves.some(
    (move) => move.unitId === unit && !PHASES[move.phase].isRevocable && move.phase !== "ABORT" && move.phase !== "ABORTED",
  );
}
