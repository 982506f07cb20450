import type { Millis } from "../domain/clock.ts";
import type { Decision } from "../domain/decision.ts";
import type { UnitId } from "../domain/ids.ts";
import type { Placement, PlacementQuestion } from "./place-unit.ts";

/** The journal's entry of a placement: what was chosen, and the question it answers, so that it can be asked again. */
export function placementDecision({ unit, seats, policy }: PlacementQuestion, placement: Placement, at: Millis): Decision {
  const subject: UnitId = unit.id;
  const details = {
    ...placement.facts,
    chosen: placement.kind === "chosen" ? placement.instance : null,
    load: unit.load,
    policy,
    seats: [...seats].sort((a, b) => (a.id < b.id ? -1 : 1)),
  };
  const rule = placement.kind === "chosen" ? placement.rule : "NOTHING_FITS";
  return { at, subject, kind: "placement", verdict: placement.kind === "chosen" ? "CHOSEN" : "UNPLACEABLE", rule, details };
}
