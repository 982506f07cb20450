import type { Clock } from "../../domain/clock.ts";
import { type Millis, millis } from "../../domain/clock.ts";
import { GoneError, RefusedError } from "../../domain/errors.ts";
import type { Ids, InstanceId, PlanId } from "../../domain/ids.ts";
import type { CarriedStep, PlannedMove, StepOutcome, StoredPlan } from "../../domain/plan.ts";
import type { LiveMoves } from "../../mover/port.ts";
import type { Store } from "../../store/port.ts";
import type { Log } from "../../telemetry/log.ts";
import { homelessSteps, isSaid, leaving, stepBefore, stepOf } from "../plan/carried.ts";
import { type CarryingOut, kindOf, moveDecision, openCarryingOut } from "../plan/carry-out.ts";
import { type Goal, makePlan } from "../plan/make-plan.ts";
import { proposalOf, storedPlanOf } from "../plan/stored-plan.ts";
import { createRingMemo } from "../ring-memo.ts";

export interface PlanningDeps {
  readonly store: Pick<Store, "plans" | "moves">;
  readonly moving: LiveMoves;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
}

type Wanted = Goal & { readonly subject: string; readonly actor: string };

/** Makes plans that people ask for, and carries them out. */
export interface PlanningDesk {
  /** Makes a plan without keeping it; `subject` is what people call the instance or pool of the goal. */
  draft(className: string, wanted: Wanted, signal: AbortSignal): Promise<StoredPlan>;
  /** Makes and keeps a plan. */
  plan(className: string, wanted: Wanted, signal: AbortSignal): Promise<StoredPlan>;
  /**
   * Makes each step of a plan that still holds, in order: at once where nothing is deployed, else by asking for a live move. Carried out
   * again, what was made or is being made stays, and the rest is tried again. With `only`, what leaves this instance alone. Throws
   * `GoneError` for a plan nobody knows, `RefusedError` for one that has expired or is about a fleet that is not there.
   */
  apply(id: PlanId, said: { readonly actor: string; readonly only?: InstanceId }, signal: AbortSignal): Promise<readonly CarriedStep[]>;
}

interface Carried {
  readonly plan: StoredPlan;
  readonly actor: string;
  readonly carrying: CarryingOut;
}

/** Budgets look an hour back, the circuit breaker at the last moves of a day. */
const MOVES_MS = 24 * 60 * 60_000;
/** More than a plan has steps, each tried a few times. */
const MOVES_READ = 100_000;

export function createPlanningDesk({ store: { plans, moves }, moving, clock, ids, log }: PlanningDeps): PlanningDesk {
  const ringsOf = createRingMemo();
  const readFacts = (className: string, at: Millis, signal: AbortSignal) => plans.readFacts(className, millis(at - MOVES_MS), signal);

  const step = async (move: PlannedMove, { plan, actor, carrying }: Carried, signal: AbortSignal): Promise<CarriedStep> => {
    const verdict = carrying.judge(move);
    const fresh = stepOf(move, plan);
    const left = (why: string): CarriedStep => ({ ...fresh, why });
    if (verdict.kind === "dropped") return left(verdict.why);
    if (verdict.kind === "there") return { ...fresh, outcome: "moved" };
    const { unit: unitId, to, epoch, reason } = move;
    const { from, ceiling, source } = verdict;
    const decision = moveDecision(plan, move, { at: clock.now(), actor });
    const wish = { unitId, to, epoch, reason, ceiling, plan: plan.id };
    const outcome = verdict.isLive ? DEPLOYED : await plans.commitMove({ ...wish, from, decision }, signal);
    if (outcome.kind === "full" || outcome.kind === "stale") return left(LOST[outcome.kind]);
    const asked =
      outcome.kind === "moved" ? undefined : await moving.askFor({ ...wish, kind: kindOf(plan.goal, reason, source), actor }, signal);
    if (asked?.kind === "refused") return left(asked.why);
    log.info({ unit: unitId, from, to, reason, plan: plan.id, move: asked?.id, actor }, "Moving a unit as a plan has it");
    carrying.made(move);
    return { ...fresh, outcome: asked === undefined ? "moved" : "asked", move: asked?.id };
  };

  const draft: PlanningDesk["draft"] = async (className, { subject, actor, ...goal }, signal) => {
    const at = clock.now();
    const made = makePlan(await readFacts(className, at, signal), goal, { at, ringOf: ringsOf(className) });
    return storedPlanOf(made, { id: ids.next(), goal: goal.kind, subject, actor, at });
  };
  return {
    draft,
    async plan(className, wanted, signal) {
      const plan = await draft(className, wanted, signal);
      await plans.record(plan, proposalOf(plan), signal);
      return plan;
    },
    async apply(id, { actor, only }, signal) {
      const plan = await plans.read(id, signal);
      const at = clock.now();
      if (plan === undefined) throw new GoneError(`there is no plan ${id}; \`argosy plan\` makes one`, { code: "plan.unknown" });
      refuseStale(plan, at);
      const before = { steps: await plans.listSteps({ plan: id }, signal), moves: await moves.list({ plan: id }, MOVES_READ, signal) };
      const carried = { plan, actor, carrying: openCarryingOut(await readFacts(plan.class, at, signal), at) };
      const steps: CarriedStep[] = [];
      for (const move of leaving(plan.moves, only))
        steps.push(stepBefore(stepOf(move, plan), before) ?? (await step(move, carried, signal)));
      const all = [...steps, ...leaving(homelessSteps(plan), only)];
      if (plan.appliedAt !== undefined && isSaid(before.steps, all)) return all;
      const count = (outcome: StepOutcome): number => all.filter((each) => each.outcome === outcome).length;
      const details = { actor, moved: count("moved"), asked: count("asked"), dropped: count("dropped") };
      await plans.recordApplied(id, all, { at, subject: id, kind: "plan", verdict: "APPLIED", rule: "COMMAND", details }, signal);
      return all;
    },
  };
}

const DEPLOYED = { kind: "deployed" } as const;
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
