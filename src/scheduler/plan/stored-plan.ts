import { type Millis, millis } from "../../domain/clock.ts";
import type { Decision } from "../../domain/decision.ts";
import type { PlanId } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
import type { PlanGoal, StoredPlan } from "../../domain/plan.ts";
import type { MadePlan } from "./make-plan.ts";

export interface PlanHead {
  readonly id: PlanId;
  readonly goal: PlanGoal;
  readonly subject: string;
  readonly actor: string;
  readonly at: Millis;
}

/** For so long a person may think about a plan. Each move is checked again anyway; what was worth moving then may not be later. */
const GOOD_FOR_MS = 60 * 60_000;

/** Who asks for the plans that nobody asks for. */
export const SCHEDULER = "scheduler";

/** A plan as it is kept. */
export function storedPlanOf({ snapshot, plan, document }: MadePlan, { id, goal, subject, actor, at }: PlanHead): StoredPlan {
  const { snapshotHash, planHash, moves, records } = plan;
  return {
    ...{ id, class: snapshot.class, goal, subject, snapshotHash, planHash, actor, moves, records },
    ...{ createdAt: at, expiresAt: millis(at + GOOD_FOR_MS), appliedAt: undefined },
    report: document as unknown as StoredPlan["report"],
  };
}

/** The journal's entry of a plan that was made; the plan itself holds what it rests on. */
export function proposalOf(plan: StoredPlan): Decision {
  const { id, goal, subject, actor, snapshotHash, planHash, moves, createdAt } = plan;
  const details = { actor, goal, subject, class: plan.class, snapshotHash, planHash, moves: moves.length };
  return { at: createdAt, subject: id, kind: "plan", verdict: "PROPOSED", rule: goal.toUpperCase(), details };
}

/** The plan by which the scheduler has proposed the same moves already, if it still means it: one nobody carries out is not made anew each time. */
export function proposedOf(known: readonly StoredPlan[], fresh: StoredPlan): StoredPlan | undefined {
  const own = known.filter(({ actor, goal, expiresAt }) => actor === SCHEDULER && goal === "rebalance" && expiresAt > fresh.createdAt);
  return own.find(({ moves }) => textOf(moves) === textOf(fresh.moves));
}

/** The plan that wants the same moves for the same reason, and may be carried out still. */
export function standingOf(known: readonly StoredPlan[], fresh: StoredPlan): StoredPlan | undefined {
  const { goal, subject, createdAt } = fresh;
  const same = known.filter((plan) => plan.goal === goal && plan.subject === subject && plan.expiresAt > createdAt);
  return same.find(({ moves }) => textOf(moves) === textOf(fresh.moves));
}

/** Plans to empty an instance, of those that were made since it is emptied, that nobody has carried out to their end. */
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
