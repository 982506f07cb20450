import { systemClock } from "../../runtime/clock.ts";
import { createCountingIds } from "../../runtime/ids.ts";
import { explainInstance } from "../../scheduler/explain-instance.ts";
import { describePlan } from "../../scheduler/plan/describe-plan.ts";
import { planNames } from "../../scheduler/plan/plan-names.ts";
import { createPlanningDesk } from "../../scheduler/planning/controller.ts";
import { reviewDecision, reviewPlan } from "../../scheduler/review.ts";
import type { MemoryStore } from "../../store/adapters/memory/memory-store.ts";
import { silentLog } from "../../telemetry/log.ts";
import type { ApiDeps } from "../port.ts";
import { idleDeps } from "./served.ts";

/** The API with the scheduler's own planning behind it. */
export function planningDeps(store: MemoryStore): ApiDeps {
  const desk = createPlanningDesk({ store, clock: systemClock, ids: createCountingIds(), log: silentLog });
  return {
    ...idleDeps(store),
    planning: { ...desk, describe: describePlan, names: planNames, review: reviewPlan },
    review: reviewDecision,
    explainInstance,
  };
}
