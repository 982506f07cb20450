import type { Millis } from "../domain/clock.ts";
import type { Decision } from "../domain/decision.ts";
import type { InstanceId, UnitId } from "../domain/ids.ts";
import { refusalHash } from "../domain/refusal.ts";
import { NO_CONSTRAINTS } from "./eligibility.ts";
import type { Placement, PlacementFacts, PlacementQuestion } from "./place-unit.ts";
import { type CandidateSummary, summaryOf } from "./placement-fleet.ts";

/** Classes of up to this size are recorded candidate by candidate. An entry has some ten kilobytes at most. */
const CANDIDATES_KEPT = 24;

/**
 * The journal's entry for a placement: what was chosen, and the question that it answers, so that the decision can be reviewed. Of a
 * larger class only those candidates are kept that the answer rests on: the ones that were passed over, with the reason, and the
 * chosen one. Asked again with these and the recorded bound, the question has the same answer, because every candidate that was left
 * out could only have lost. So an entry stays small however large the fleet is. `summary`: of these candidates, where it is known.
 */
export function placementDecision(
  { unit, candidates, policy, summary }: PlacementQuestion & { readonly summary?: CandidateSummary },
  placement: Placement,
  at: Millis,
): Decision {
  const subject: UnitId = unit.id;
  const byId = [...candidates].sort((a, b) => (a.id < b.id ? -1 : 1));
  const named = namedIn(placement);
  const details = {
    ...placement.facts,
    chosen: placement.kind === "chosen" ? placement.instance : null,
    load: unit.load,
    ...(unit.constraints === undefined || unit.constraints === NO_CONSTRAINTS ? {} : { constraints: unit.constraints }),
    policy,
    class: summary ?? summaryOf(byId),
    candidates: byId.length <= CANDIDATES_KEPT ? byId : byId.filter(({ id }) => named.has(id)),
  };
  const verdict = placement.kind === "chosen" ? { verdict: "CHOSEN", rule: placement.rule } : REFUSED;
  return { at, subject, kind: "placement", ...verdict, details };
}

const REFUSED = { verdict: "UNPLACEABLE", rule: "NOTHING_FITS" };

/** Whether a unit that no instance takes was refused for the same before, so that nothing new is to be journaled. */
export function isRefusedAgain({ refused }: { readonly refused?: string }, { facts }: Pick<Placement, "facts">): boolean {
  return refused === refusalHash(REFUSED, whyUnplaceable(facts));
}

/**
 * Why nothing fits, in short: each rule that keeps the unit away, once, with what it is about. Loads change with every deployment and
 * the listed instances with every attempt, so neither is part of it: the text changes only when something else has to be done.
 */
export function whyUnplaceable({ refusals }: Pick<PlacementFacts, "refusals">): string {
  const words = refusals.map((refusal) => {
    if (refusal.rule === "BOUND") return `BOUND ${refusal.dimension}`;
    if (refusal.rule === "HEALTH") return `HEALTH ${refusal.health}`;
    return refusal.rule === "STATE" ? `STATE ${refusal.state}` : refusal.rule;
  });
  return words.length === 0 ? "NO_INSTANCE" : [...new Set(words)].sort().join(", ");
}

function namedIn(placement: Placement): ReadonlySet<InstanceId> {
  const passedOver = placement.facts.refusals.map(({ instance }) => instance);
  return new Set(placement.kind === "chosen" ? [...passedOver, placement.instance] : passedOver);
}
