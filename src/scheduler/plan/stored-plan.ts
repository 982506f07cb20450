import { type Millis, millis } from "../../domain/clock.ts";
import type { Decision } from "../../domain/decision.ts";
import type { PlanId } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
import type { PlanGoal, StoredPlan } from "../../domain/plan.ts";
import { complete, type Resumable } from "../../domain/resumable.ts";
import type { MadePlan } from "./make-plan.ts";
import { hashesInTurns } from "./plan-moves.ts";

export interface PlanHead {
  readonly id: PlanId;
  readonly goal: PlanGoal;
  readonly subject: string;
  readonly actor: string;
  readonly at: Millis;
}

/** How long a person may take to carry a plan out, in ms. Each move is checked again in any case, but it may not be worth making any more. */
const GOOD_FOR_MS = 60 * 60_000;

/** The actor of plans that no person asked for. */
export const SCHEDULER = "scheduler";

/** A plan as it is stored. */
export function storedPlanOf(made: MadePlan, head: PlanHead): StoredPlan {
  return complete(storedPlanInTurns(made, head));
}

/** The same, with pauses. */
export function* storedPlanInTurns(
  { snapshot, plan, document }: MadePlan,
  { id, goal, subject, actor, at }: PlanHead,
): Resumable<StoredPlan> {
  const { moves, records } = plan;
  const { snapshotHash, planHash } = yield* hashesInTurns(snapshot, plan);
  return {
    ...{ id, class: snapshot.class, goal, subject, snapshotHash, planHash, actor, moves, records },
    ...{ createdAt: at, expiresAt: millis(at + GOOD_FOR_MS), appliedAt: undefined },
    report: document as unknown as StoredPlan["report"],
  };
}

/** The journal's entry for a plan that was made; the plan itself holds what it rests on. */
export function proposalOf(plan: StoredPlan): Decision {
  const { id, goal, subject, actor, snapshotHash, planHash, moves, createdAt } = plan;
  const details = { actor, goal, subject, class: plan.class, snapshotHash, planHash, moves: moves.length };
  return { at: createdAt, subject: id, kind: "plan", verdict: "PROPOSED", rule: goal.toUpperCase(), details };
}

/** The scheduler's plan that proposes the same moves already, if it has not expired: a plan that nobody carries out is not stored anew each cycle. */
export function proposedOf(known: readonly StoredPlan[], fresh: StoredPlan): StoredPlan | undefined {
  const own = known.filter(({ actor, goal, expiresAt }) => actor === SCHEDULER && goal === "rebalance" && expiresAt > fresh.createdAt);
  return own.find(({ moves }) => textOf(moves) === textOf(fresh.moves));
}

/** The plan with the same goal and the same moves, if it has not expired. */
export function standingOf(known: readonly StoredPlan[], fresh: StoredPlan): StoredPlan | undefined {
  const { goal, subject, createdAt } = fresh;
  const same = known.filter((plan) => plan.goal === goal && plan.subject === subject && plan.expiresAt > createdAt);
  return same.find(({ moves }) => textOf(moves) === textOf(fresh.moves));
}

/** The plans that empty an instance, were made since that began, and were not carried out to their end. */
export function interruptedOf(
  known: readonly StoredPlan[],
  { name, stateSince }: Pick<Instance, "name" | "stateSince">,
  at: Millis,
): readonly StoredPlan[] {
  return known.filter((plan) => {
    const isOwn = plan.goal === "drain" && plan.subject === name && plan.createdAt >= stateSince;
    return isOwn && plan.appliedAt === undefined && plan.expiresAt > at;
  });
}

function textOf(moves: StoredPlan["moves"]): string {
  return moves.map(({ unit, from, to, epoch, reason }) => `${unit} ${from ?? "-"} ${to} ${epoch} ${reason}`).join("\n");
}
