import type { Clock } from "../../domain/clock.ts";
import { type Millis, millis } from "../../domain/clock.ts";
import { GoneError, InputError, RefusedError } from "../../domain/errors.ts";
import type { Ids, InstanceId, PlanId } from "../../domain/ids.ts";
import type { CarriedStep, PlannedMove, StepOutcome, StoredPlan } from "../../domain/plan.ts";
import type { Supposition, WhatIf } from "../../domain/what-if.ts";
import type { LiveMoves } from "../../mover/port.ts";
import { giveTurns } from "../../runtime/give-turns.ts";
import type { Store } from "../../store/port.ts";
import type { Log } from "../../telemetry/log.ts";
import {
  areStepsRecorded,
  type CarriedBefore,
  carriedStepOf,
  concerning,
  exchangeOf,
  followersOf,
  leaving,
  mayFollowUp,
  stepBefore,
  unplaceableSteps,
} from "../plan/carried-steps.ts";
import { type Goal, makePlanInTurns } from "../plan/make-plan.ts";
import { type ApprovalLimits, policyInTurns } from "../plan/planner-policy.ts";
import { proposalOf, storedPlanInTurns } from "../plan/stored-plan.ts";
import { type CarryingOut, kindOf, moveDecision, openCarryingOutInTurns } from "../plan/validate-step.ts";
import { whatIfInTurns } from "../plan/what-if.ts";
import { createRingMemo } from "../ring-memo.ts";

export interface PlanningDeps {
  readonly store: Pick<Store, "plans" | "moves" | "fleet">;
  readonly moving: Pick<LiveMoves, "askFor">;
  /** When a plan needs a person's approval; absent: the default. */
  readonly approval?: ApprovalLimits | undefined;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
}

type Wanted = Goal & { readonly subject: string; readonly actor: string };

/** Makes plans that people ask for, and carries out any plan. */
export interface PlanRequests {
  /** Makes a plan without keeping it; `subject` is what people call the instance or pool of the goal. */
  draft(className: string, wanted: Wanted, signal: AbortSignal): Promise<StoredPlan>;
  /** What would become of a class if something were different. Keeps nothing. Throws `InputError` for what cannot be supposed. */
  whatIf(className: string, suppositions: readonly Supposition[], signal: AbortSignal): Promise<WhatIf>;
  /** Makes and keeps a plan. */
  plan(className: string, wanted: Wanted, signal: AbortSignal): Promise<StoredPlan>;
  /**
   * Makes the steps of a plan that are still valid, in order: at once if nothing is deployed, else by requesting a live move. If the plan
   * was carried out before, steps that were made or are being made stay, and the others are tried again. With `only`, makes only the
   * steps that leave this instance. Throws `GoneError` for an unknown plan, `RefusedError` for one that has expired, or that supposes
   * a fleet that is not there.
   */
  apply(id: PlanId, said: { readonly actor: string; readonly only?: InstanceId }, signal: AbortSignal): Promise<readonly CarriedStep[]>;
  /** Makes those steps of this class's exchanges that had to wait until the other half had left, and need not wait any more. */
  followUp(className: string, actor: string, signal: AbortSignal): Promise<void>;
}

/** Budgets count the moves of the last hour, the circuit breaker those of the last day. */
const MOVES_MS = 24 * 60 * 60_000;
/** More than anybody carries out within an hour, after which plans expire. */
const PLANS_FOLLOWED = 50;
/** More than a plan has steps, each tried a few times. */
const MOVES_READ = 100_000;

export function createPlanRequests(deps: PlanningDeps): PlanRequests {
  const { approval, clock, ids } = deps;
  const { plans } = deps.store;
  const ringsOf = createRingMemo();

  const draft: PlanRequests["draft"] = async (className, { subject, actor, ...goal }, signal) => {
    const at = clock.now();
    const facts = await readFacts(deps, className, at, signal);
    const made = await giveTurns(makePlanInTurns(facts, goal, { at, ringOf: ringsOf(className), approval }), clock, signal);
    return giveTurns(storedPlanInTurns(made, { id: ids.next(), goal: goal.kind, subject, actor, at }), clock, signal);
  };
  return {
    draft,
    async whatIf(className, suppositions, signal) {
      const at = clock.now();
      const facts = await readFacts(deps, className, at, signal);
      const names = new Set((await deps.store.fleet.listInstances(signal)).map(({ name }) => name));
      const found = await giveTurns(whatIfInTurns(facts, suppositions, { at, names, ringOf: ringsOf(className) }), clock, signal);
      if (found.kind === "answer") return found.answer;
      const { message, remedy, index } = found;
      throw new InputError(message, { code: "plan.suppose", path: `suppose.${index}`, remedy });
    },
    async plan(className, wanted, signal) {
      const plan = await draft(className, wanted, signal);
      await plans.record(plan, proposalOf(plan), signal);
      return plan;
    },
    async apply(id, { actor, only }, signal) {
      const plan = await plans.read(id, signal);
      const at = clock.now();
      if (plan === undefined) throw new GoneError(`there is no plan ${id}; \`argosy plan\` makes one`, { code: "plan.unknown" });
      refuseUnusable(plan, at);
      const before = await readBefore(deps, id, signal);
      const steps = await makeSteps(deps, { plan, actor, before, at }, concerning(plan.moves, only), signal);
      const all = [...steps, ...leaving(unplaceableSteps(plan), only)];
      if (plan.appliedAt === undefined || !areStepsRecorded(before.steps, all))
        await recordSteps(deps, { plan, actor, at, rule: "COMMAND" }, all, signal);
      return all;
    },
    async followUp(className, actor, signal) {
      const at = clock.now();
      const known = await plans.list({ class: className }, PLANS_FOLLOWED, signal);
      for (const plan of known.filter((each) => mayFollowUp(each, at))) {
        const before = await readBefore(deps, plan.id, signal);
        const steps = await makeSteps(deps, { plan, actor, before, at }, followersOf(plan, before), signal);
        if (!areStepsRecorded(before.steps, steps)) await recordSteps(deps, { plan, actor, at, rule: "EXCHANGE" }, steps, signal);
      }
    },
  };
}

function refuseUnusable({ id, goal, expiresAt }: StoredPlan, at: Millis): void {
  if (goal === "add" || goal === "remove")
    throw new RefusedError(`plan ${id} is about a fleet that is not there: change fleet.yaml, or \`argosy plan drain\``, {
      code: "plan.supposed",
      context: { plan: id },
    });
  if (expiresAt <= at)
    throw new RefusedError(`plan ${id} has expired: \`argosy plan\` makes a new one`, { code: "plan.expired", context: { plan: id } });
}

/** Everything about a class as it is now. */
function readFacts({ store }: PlanningDeps, className: string, at: Millis, signal: AbortSignal) {
  return store.plans.readFacts(className, millis(at - MOVES_MS), signal);
}

/** What has come of the plan so far. */
async function readBefore({ store: { plans, moves } }: PlanningDeps, plan: PlanId, signal: AbortSignal): Promise<CarriedBefore> {
  return { steps: await plans.listSteps({ plan }, signal), moves: await moves.list({ plan }, MOVES_READ, signal) };
}

/** A plan that is being carried out, and for whom. */
interface Run {
  readonly plan: StoredPlan;
  readonly actor: string;
  readonly at: Millis;
}

/** Makes each of these steps that is still valid, in order. Steps that were made before, or are being made, stay as they are. */
async function makeSteps(
  deps: PlanningDeps,
  { before, ...run }: Run & { readonly before: CarriedBefore },
  wanted: readonly PlannedMove[],
  signal: AbortSignal,
): Promise<readonly CarriedStep[]> {
  if (wanted.length === 0) return [];
  const facts = await readFacts(deps, run.plan.class, run.at, signal);
  const policy = await giveTurns(policyInTurns(facts, deps.approval), deps.clock, signal);
  const validation = await giveTurns(openCarryingOutInTurns(facts, run.at, policy), deps.clock, signal);
  const steps: CarriedStep[] = [];
  for (const move of wanted)
    steps.push(stepBefore(carriedStepOf(move, run.plan), before) ?? (await makeStep(deps, { ...run, validation }, move, signal)));
  return steps;
}

const DEPLOYED = { kind: "deployed" } as const;
const LOST_RACE = { full: "the instance it should go to filled up, or takes nothing now", stale: "it was moved or changed at this moment" };

/** Makes one step: validates it by current rows, then changes the owner if nothing is deployed, or else requests a live move. */
async function makeStep(
  { store: { plans }, moving, clock, log }: PlanningDeps,
  { plan, actor, validation }: Run & { readonly validation: CarryingOut },
  move: PlannedMove,
  signal: AbortSignal,
): Promise<CarriedStep> {
  const exchange = exchangeOf(move, plan.moves);
  const verdict = validation.judge(move, exchange);
  const fresh = carriedStepOf(move, plan);
  const left = (why: string): CarriedStep => ({ ...fresh, why });
  if (verdict.kind === "dropped") return left(verdict.why);
  if (verdict.kind === "there") return { ...fresh, outcome: "moved" };
  const { unit: unitId, to, epoch, reason } = move;
  const { from, ceiling, source } = verdict;
  const decision = moveDecision(plan, move, { at: clock.now(), actor });
  const request = { unitId, to, epoch, reason, ceiling, plan: plan.id };
  const outcome = verdict.isLive ? DEPLOYED : await plans.commitMove({ ...request, from, decision }, signal);
  if (outcome.kind === "full" || outcome.kind === "stale") return left(LOST_RACE[outcome.kind]);
  const asked =
    outcome.kind === "moved" ? undefined : await moving.askFor({ ...request, kind: kindOf(plan.goal, reason, source), actor }, signal);
  if (asked?.kind === "refused") return left(asked.why);
  log.info({ unit: unitId, from, to, reason, plan: plan.id, move: asked?.id, actor }, "Making a step of a plan");
  validation.made(move, exchange);
  return { ...fresh, outcome: asked === undefined ? "moved" : "asked", move: asked?.id };
}

/** Records what came of the steps, with an entry in the journal. `rule`: a person's order, or that the other half of an exchange had left. */
async function recordSteps(
  { store: { plans } }: PlanningDeps,
  { plan: { id }, actor, at, rule }: Run & { readonly rule: "COMMAND" | "EXCHANGE" },
  steps: readonly CarriedStep[],
  signal: AbortSignal,
): Promise<void> {
  const count = (outcome: StepOutcome): number => steps.filter((each) => each.outcome === outcome).length;
  const details = { actor, moved: count("moved"), asked: count("asked"), dropped: count("dropped") };
  await plans.recordApplied(id, steps, { at, subject: id, kind: "plan", verdict: "APPLIED", rule, details }, signal);
}
