import type { Decision } from "../domain/decision.ts";
import type { UnitId } from "../domain/ids.ts";
import type { LoadVector } from "../domain/load.ts";
import type { StoredPlan } from "../domain/plan.ts";
import type { Candidate } from "./candidate.ts";
import type { PlacementConstraints } from "./eligibility.ts";
import { placeUnit } from "./place-unit.ts";
import { reEvaluatesBlockedBy } from "./plan/budget.ts";
import { type MoveRecord, reEvaluates, reEvaluatesStay } from "./plan/record.ts";
import type { PlanDocument } from "./plan/report.ts";
import type { PlacementPolicy } from "./policy.ts";
import { isKept } from "./rebalancing/relief-promise.ts";
import { reviewSplit } from "./split/split-decision.ts";

/**
 * Whether a recorded verdict follows from what is recorded with it alone. `undefined`: the entry records a person's order or an event,
 * so there is nothing to review.
 */
export function reviewDecision(decision: Decision): boolean | undefined {
  if (decision.kind === "plan") return reviewPromise(decision);
  if (decision.kind !== "placement") return undefined;
  if (decision.verdict === "MOVED") return reviewMove(decision.details);
  if (decision.verdict === "SPLIT" || decision.verdict === "MERGED") return reviewSplit(decision);
  return isQuestion(decision.details) ? reviewPlacement(decision, decision.details) : undefined;
}

/** Whether every choice of a plan, every refusal and everything that blocked it follows from what was recorded with it. */
export function reviewPlan({ records, report }: StoredPlan): boolean {
  const { unplaceable, withoutCandidate, blockedBy, left } = report as unknown as PlanDocument;
  return (
    [...(records as readonly MoveRecord[]), ...unplaceable, ...withoutCandidate].every(reEvaluates) &&
    blockedBy.every(reEvaluatesBlockedBy) &&
    left.shown.every(reEvaluatesStay)
  );
}

/** Whether a promise that was measured came out as it says. */
function reviewPromise({ verdict, details: { expected, real } }: Decision): boolean | undefined {
  if (verdict !== "KEPT" && verdict !== "BROKEN") return undefined;
  return typeof expected === "number" && typeof real === "number" && isKept({ expected, real }) === (verdict === "KEPT");
}

function reviewMove(details: Decision["details"]): boolean | undefined {
  const { record } = details as { readonly record?: MoveRecord | null };
  return record === undefined || record === null ? undefined : reEvaluates(record);
}

/** What the journal keeps of a first placement: the candidates that its answer rests on, and the bound it was made under. */
interface Question {
  readonly load: LoadVector;
  readonly candidates: readonly Candidate[];
  readonly policy: PlacementPolicy;
  readonly bound: number;
  readonly chosen: string | null;
  readonly constraints?: PlacementConstraints;
}

function isQuestion(details: object): details is Question {
  const { load, candidates, policy, bound } = details as Partial<Question>;
  return typeof load === "object" && Array.isArray(candidates) && typeof policy === "object" && typeof bound === "number";
}

function reviewPlacement(
  { subject, verdict, rule }: Decision,
  { load, candidates, policy, bound, chosen, constraints }: Question,
): boolean {
  const unit = { id: subject as UnitId, load, ...(constraints === undefined ? {} : { constraints }) };
  const again = placeUnit({ unit, candidates, policy: { ...policy, activity: bound, hardLimit: bound } });
  if (again.kind === "unplaceable") return chosen === null && verdict === "UNPLACEABLE";
  return again.instance === chosen && again.rule === rule && verdict === "CHOSEN";
}
