import type { Clock } from "../../domain/clock.ts";
import { type Millis, millis } from "../../domain/clock.ts";
import { GoneError, RefusedError } from "../../domain/errors.ts";
import type { Ids, InstanceId, PlanId } from "../../domain/ids.ts";
import type { CarriedStep, StoredPlan } from "../../domain/plan.ts";
import type { LiveMoves } from "../../mover/port.ts";
import type { Store } from "../../store/port.ts";
import type { Log } from "../../telemetry/log.ts";
import { createCarrying } from "../carrying/controller.ts";
import { homelessSteps, isSaid, leaving } from "../plan/carried.ts";
import { concerning, followersOf, isFollowed } from "../plan/exchange.ts";
import { type Goal, makePlan } from "../plan/make-plan.ts";
import type { ApprovalLimits } from "../plan/planner-policy.ts";
import { proposalOf, storedPlanOf } from "../plan/stored-plan.ts";
import { createRingMemo } from "../ring-memo.ts";

export interface PlanningDeps {
  readonly store: Pick<Store, "plans" | "moves">;
  readonly moving: LiveMoves;
  /** When a plan needs a person's approval; absent: the default. */
  readonly approval?: ApprovalLimits | undefined;
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
  /** Makes what of this class's exchanges could not be made before their other half had left, which it has by now. */
  followUp(className: string, actor: string, signal: AbortSignal): Promise<void>;
}

/** Budgets look an hour back, the circuit breaker at the last moves of a day. */
const MOVES_MS = 24 * 60 * 60_000;
/** More than anybody carries out within an hour, after which plans expire. */
const PLANS_FOLLOWED = 50;

export function createPlanningDesk({ store: { plans, moves }, moving, approval, clock, ids, log }: PlanningDeps): PlanningDesk {
  const ringsOf = createRingMemo();
  const readFacts = (className: string, at: Millis, signal: AbortSignal) => plans.readFacts(className, millis(at - MOVES_MS), signal);
  const { beforeOf, make, tell } = createCarrying({ plans, moves, moving, readFacts, clock, log });

  const draft: PlanningDesk["draft"] = async (className, { subject, actor, ...goal }, signal) => {
    const at = clock.now();
    const made = makePlan(await readFacts(className, at, signal), goal, { at, ringOf: ringsOf(className), approval });
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
      const before = await beforeOf(id, signal);
      const steps = await make(plan, concerning(plan.moves, only), { actor, before, at }, signal);
      const all = [...steps, ...leaving(homelessSteps(plan), only)];
      if (plan.appliedAt === undefined || !isSaid(before.steps, all)) await tell(plan, all, { actor, at, rule: "COMMAND" }, signal);
      return all;
    },
    async followUp(className, actor, signal) {
      const at = clock.now();
      const known = await plans.list({ class: className }, PLANS_FOLLOWED, signal);
      for (const plan of known.filter((each) => isFollowed(each, at))) {
        const before = await beforeOf(plan.id, signal);
        const steps = await make(plan, followersOf(plan, before), { actor, before, at }, signal);
        if (!isSaid(before.steps, steps)) await tell(plan, steps, { actor, at, rule: "EXCHANGE" }, signal);
      }
    },
  };
}

function refuseStale({ id, goal, expiresAt }: StoredPlan, at: Millis): void {
  if (goal === "add" || goal === "remove")
    throw new RefusedError(`plan ${id} is about a fleet that is not there: change fleet.yaml, or \`argosy plan drain\``, {
      code: "plan.supposed",
      context: { plan: id },
    });
  if (expiresAt <= at)
    throw new RefusedError(`plan ${id} has expired: \`argosy plan\` makes a new one`, { code: "plan.expired", context: { plan: id } });
}
