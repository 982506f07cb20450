import { type Millis, millis } from "../../domain/clock.ts";
import type { Urgency } from "./budget.ts";
import { type Bundle, failedUntil } from "./bundles.ts";
import type { PlannerPolicy } from "./planner-policy.ts";
import type { StayRecord } from "./record.ts";
import type { PlanUnit } from "./snapshot.ts";

export interface Moment {
  readonly at: Millis;
  readonly policy: PlannerPolicy;
  readonly urgency: Urgency;
}

type Reason = Pick<StayRecord, "rule" | "until">;

/** Why a bundle is left where it is, whatever its instance would wish; `undefined` when it may be moved. */
export function whyStays(bundle: Bundle, moment: Moment): StayRecord | undefined {
  for (const unit of bundle.units) {
    if (isUnbound(unit)) continue;
    const reason = reasonOf(unit, moment);
    if (reason !== undefined && unit.owner !== undefined) return { unit: unit.id, instance: unit.owner, at: moment.at, ...reason };
  }
  return undefined;
}

/** Nothing is known that could hold the unit back, which is so for nearly all of them. */
function isUnbound({ movingTo, doNotMoveUntil, movedAt, failed }: PlanUnit): boolean {
  return movingTo === undefined && doNotMoveUntil === undefined && movedAt === undefined && failed === undefined;
}

/** A unit of an overloaded instance need not have cooled down: it is the present load that matters there. */
function reasonOf(unit: PlanUnit, { at, policy, urgency }: Moment): Reason | undefined {
  const { movingTo, doNotMoveUntil, movedAt, failed } = unit;
  if (movingTo !== undefined) return { rule: "MOVING", until: undefined };
  const waits: readonly (readonly [StayRecord["rule"], number | undefined])[] = [
    ["DO_NOT_MOVE", doNotMoveUntil],
    ["COOL_DOWN", movedAt === undefined || urgency === "hot" ? undefined : movedAt + policy.coolDownMs],
    ["FAILED_BEFORE", failed === undefined || urgency === "hot" ? undefined : failedUntil(failed, policy)],
  ];
  for (const [rule, until] of waits) if (until !== undefined && until > at) return { rule, until: millis(until) };
  return undefined;
}
