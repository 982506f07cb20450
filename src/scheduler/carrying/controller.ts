import type { Clock, Millis } from "../../domain/clock.ts";
import type { PlanId } from "../../domain/ids.ts";
import type { CarriedStep, PlannedMove, StepOutcome, StoredPlan } from "../../domain/plan.ts";
import type { LiveMoves } from "../../mover/port.ts";
import type { PlanFacts } from "../../store/plan/port.ts";
import type { Store } from "../../store/port.ts";
import type { Log } from "../../telemetry/log.ts";
import { type Before, stepBefore, stepOf } from "../plan/carried.ts";
import { type CarryingOut, kindOf, moveDecision, openCarryingOut } from "../plan/carry-out.ts";
import { exchangeOf } from "../plan/exchange.ts";

export interface CarryingDeps {
  readonly plans: Pick<Store["plans"], "listSteps" | "commitMove" | "recordApplied">;
  readonly moves: Pick<Store["moves"], "list">;
  readonly moving: Pick<LiveMoves, "askFor">;
  /** Everything about a class as it is now. */
  readonly readFacts: (className: string, at: Millis, signal: AbortSignal) => Promise<PlanFacts>;
  readonly clock: Clock;
  readonly log: Log;
}

interface Said {
  readonly actor: string;
  readonly at: Millis;
}

/** Makes steps of plans. */
export interface Carrying {
  /** What carrying a plan out has come to so far. */
  beforeOf(plan: PlanId, signal: AbortSignal): Promise<Before>;
  /** Makes each of these steps that still holds, in order: at once where nothing is deployed, else by asking for a live move. */
  make(
    plan: StoredPlan,
    wanted: readonly PlannedMove[],
    said: Said & { readonly before: Before },
    signal: AbortSignal,
  ): Promise<readonly CarriedStep[]>;
  /** Keeps what they came to, with an entry in the journal. `rule`: a person's word, or the other half of an exchange that had left. */
  tell(
    plan: StoredPlan,
    steps: readonly CarriedStep[],
    said: Said & { readonly rule: "COMMAND" | "EXCHANGE" },
    signal: AbortSignal,
  ): Promise<void>;
}

/** A plan that is carried out, for whom, and by which rows. */
interface Carried {
  readonly plan: StoredPlan;
  readonly actor: string;
  readonly carrying: CarryingOut;
}

/** More than a plan has steps, each tried a few times. */
const MOVES_READ = 100_000;
const DEPLOYED = { kind: "deployed" } as const;
const LOST = { full: "the instance it should go to filled up, or takes nothing now", stale: "it was moved or changed at this moment" };

export function createCarrying({ plans, moves, moving, readFacts, clock, log }: CarryingDeps): Carrying {
  const step = async (move: PlannedMove, { plan, actor, carrying }: Carried, signal: AbortSignal): Promise<CarriedStep> => {
    const exchange = exchangeOf(move, plan.moves);
    const verdict = carrying.judge(move, exchange);
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
    carrying.made(move, exchange);
    return { ...fresh, outcome: asked === undefined ? "moved" : "asked", move: asked?.id };
  };

  return {
    beforeOf: async (plan, signal) => ({
      steps: await plans.listSteps({ plan }, signal),
      moves: await moves.list({ plan }, MOVES_READ, signal),
    }),
    async make(plan, wanted, { actor, before, at }, signal) {
      if (wanted.length === 0) return [];
      const carried = { plan, actor, carrying: openCarryingOut(await readFacts(plan.class, at, signal), at) };
      const steps: CarriedStep[] = [];
      for (const move of wanted) steps.push(stepBefore(stepOf(move, plan), before) ?? (await step(move, carried, signal)));
      return steps;
    },
    async tell({ id }, steps, { actor, at, rule }, signal) {
      const count = (outcome: StepOutcome): number => steps.filter((each) => each.outcome === outcome).length;
      const details = { actor, moved: count("moved"), asked: count("asked"), dropped: count("dropped") };
      await plans.recordApplied(id, steps, { at, subject: id, kind: "plan", verdict: "APPLIED", rule, details }, signal);
    },
  };
}
