import type { Millis } from "../../domain/clock.ts";
import type { InstanceId } from "../../domain/ids.ts";
import type { PlannedMove } from "../../domain/plan.ts";
import { type Ineligible, type Wish, whyNotEligible } from "../eligibility.ts";
import { type Held, type Refusal, whyNot } from "../place-unit.ts";
import type { PlanUnit } from "./snapshot.ts";

/** The rows a planned move touches, as they are when it would start. */
export interface CurrentRows {
  readonly at: Millis;
  readonly unit: PlanUnit | undefined;
  readonly wish: Wish;
  /** The instance it should go to, with what it carries now, moves towards it included. */
  readonly target: Held | undefined;
  /** No instance is filled beyond this, ppm. */
  readonly hardLimit: number;
  readonly isFrozen: boolean;
}

/** Why a planned move is dropped. It is not put off: the next plan sees what has changed. */
export type Dropped =
  | { readonly rule: "UNIT_GONE" | "FROZEN" | "TARGET_GONE" }
  | { readonly rule: "MOVED_SINCE"; readonly epoch: number }
  | { readonly rule: "OWNER_CHANGED"; readonly owner: InstanceId | undefined }
  | { readonly rule: "MOVING"; readonly to: InstanceId }
  | { readonly rule: "DO_NOT_MOVE"; readonly until: Millis }
  | { readonly rule: "REFUSED"; readonly refusal: Refusal };

/**
 * Looks at a move once more before it starts; `undefined`: it may. The plan was right for its snapshot. Since then somebody may
 * have moved the unit, pinned it, or filled its place, so each move is held against its own rows, and other moves of the plan
 * do not fall with it. A forced move may start in a freeze and in spite of do-not-move.
 */
export function whyDropped(move: PlannedMove, rows: CurrentRows): Dropped | undefined {
  const { unit, target } = rows;
  if (unit === undefined) return { rule: "UNIT_GONE" };
  if (unit.epoch !== move.epoch) return { rule: "MOVED_SINCE", epoch: unit.epoch };
  if (unit.owner !== move.from) return { rule: "OWNER_CHANGED", owner: unit.owner };
  if (unit.movingTo !== undefined) return { rule: "MOVING", to: unit.movingTo };
  if (move.reason !== "FORCED") {
    if (rows.isFrozen) return { rule: "FROZEN" };
    const until = unit.doNotMoveUntil;
    if (until !== undefined && until > rows.at) return { rule: "DO_NOT_MOVE", until };
  }
  if (target === undefined) return { rule: "TARGET_GONE" };
  const refusal: Ineligible | Refusal | undefined =
    whyNotEligible(rows.wish, target) ?? whyNot(target, { load: unit.load, wish: rows.wish }, rows.hardLimit);
  return refusal === undefined ? undefined : { rule: "REFUSED", refusal };
}
