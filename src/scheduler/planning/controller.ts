import type { Clock } from "../../domain/clock.ts";
import { type Millis, millis } from "../../domain/clock.ts";
import { GoneError, RefusedError } from "../../domain/errors.ts";
import type { Ids, PlanId } from "../../domain/ids.ts";
import type { PlannedMove, StoredPlan } from "../../domain/plan.ts";
import type { Store } from "../../store/port.ts";
import type { Log } from "../../telemetry/log.ts";
import { type CarryingOut, moveDecision, openCarryingOut } from "../plan/carry-out.ts";
import { type Goal, makePlan } from "../plan/make-plan.ts";
import { proposalOf, storedPlanOf } from "../plan/stored-plan.ts";
import { createRingMemo } from "../ring-memo.ts";

export interface PlanningDeps {
  readonly store: Pick<Store, "plans">;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
}

/** What became of one step of a plan that was carried out. */
export interface CarriedStep {
  readonly move: PlannedMove;
  readonly outcome: "moved" | "live-move-needed" | "dropped";
  /** Why, where it was not moved. */
  readonly why: string;
}

/** Makes plans that people ask for, and carries them out. */
export interface PlanningDesk {
  /** Makes and keeps a plan; `subject` is what people call the instance or pool of the goal. */
  plan(className: string, goal: Goal & { readonly subject: string; readonly actor: string }, signal: AbortSignal): Promise<StoredPlan>;
  /**
   * Makes each step of a plan that still holds, in order. Throws `GoneError` for a plan nobody knows, `RefusedError` for one that has
   * expired or is about a fleet that is not there.
   */
  apply(id: PlanId, actor: string, signal: AbortSignal): Promise<readonly CarriedStep[]>;
}

interface Carried {
  readonly plan: StoredPlan;
  readonly actor: string;
  readonly carrying: CarryingOut;
}

/** Budgets look an hour back, the circuit breaker at the last moves of a day. */
const MOVES_MS = 24 * 60 * 60_000;

export function createPlanningDesk({ store: { plans }, clock, ids, log }: PlanningDeps): PlanningDesk {
  const ringsOf = createRingMemo();
  const readFacts = (className: string, at: Millis, signal: AbortSignal) => plans.readFacts(className, millis(at - MOVES_MS), signal);
  const step = async (move: PlannedMove, { plan, actor, carrying }: Carried, signal: AbortSignal): Promise<CarriedStep> => {
    const verdict = carrying.judge(move);
    if (verdict.kind === "live") return { move, outcome: "live-move-needed", why: LIVE };
    if (verdict.kind === "dropped") return { move, outcome: "dropped", why: verdict.why };
    const { unit: unitId, to, epoch, reason } = move;
    const decision = moveDecision(plan, move, { at: clock.now(), actor });
    const { from, ceiling } = verdict;
    const outcome = await plans.commitMove({ unitId, from, to, epoch, reason, ceiling, plan: plan.id, decision }, signal);
    if (outcome.kind === "deployed") return { move, outcome: "live-move-needed", why: LIVE };
    if (outcome.kind !== "moved") return { move, outcome: "dropped", why: LOST[outcome.kind] };
    log.info({ unit: unitId, from, to, reason, plan: plan.id, actor }, "Moving a unit of which nothing is deployed");
    carrying.made(move);
    return { move, outcome: "moved", why: "" };
  };
  return {
    async plan(className, { subject, actor, ...goal }, signal) {
      const at = clock.now();
      const made = makePlan(await readFacts(className, at, signal), goal, { at, ringOf: ringsOf(className) });
      const plan = storedPlanOf(made, { id: ids.next(), goal: goal.kind, subject, actor, at });
      await plans.record(plan, proposalOf(plan), signal);
      return plan;
    },
    async apply(id, actor, signal) {
      const plan = await plans.read(id, signal);
      const at = clock.now();
      if (plan === undefined) throw new GoneError(`there is no plan ${id}; \`argosy plan\` makes one`, { code: "plan.unknown" });
      refuseStale(plan, at);
      const carrying = openCarryingOut(await readFacts(plan.class, at, signal), at);
      const steps: CarriedStep[] = [];
      for (const move of plan.moves) steps.push(await step(move, { plan, actor, carrying }, signal));
      const count = (outcome: CarriedStep["outcome"]): number => steps.filter((each) => each.outcome === outcome).length;
      const details = { actor, moved: count("moved"), liveMoveNeeded: count("live-move-needed"), dropped: count("dropped") };
      await plans.recordApplied(id, { at, subject: id, kind: "plan", verdict: "APPLIED", rule: "COMMAND", details }, signal);
      return steps;
    },
  };
}

const LIVE = "something of it is deployed: it takes a live move, which is not there yet";
const LOST = { full: "the instance it should go to filled up, or takes nothing now", stale: "it was moved or changed at this moment" };

function refuseStale({ id, goal, expiresAt }: StoredPlan, at: Millis): void {
  if (goal === "add" || goal === "remove")
    throw new RefusedError(`plan ${id} is about a fleet that is not there: change fleet.yaml, or \`argosy plan drain\``, {
      code: "plan.supposed",
      context: { plan: id },
    });
  if (expiresAt <= at)
    throw new RefusedError(`plan ${id} has expired: \`argosy plan\` makes a new one`, { code: "plan.expired", context: { plan: id } });
}
