import { createMoveRequests } from "../../mover/request-moves.ts";
import { systemClock } from "../../runtime/clock.ts";
import { createUuidIds } from "../../runtime/ids.ts";
import { explainInstance } from "../../scheduler/explain-instance.ts";
import { describePlan } from "../../scheduler/plan/describe-plan.ts";
import { planNames } from "../../scheduler/plan/plan-names.ts";
import { createPlanRequests } from "../../scheduler/plan-cycle/carry-out-plan.ts";
import { createDrainRequests } from "../../scheduler/plan-cycle/empty-instance.ts";
import { reviewDecision, reviewPlan } from "../../scheduler/review.ts";
import type { MemoryStore } from "../../store/adapters/memory/memory-store.ts";
import { silentLog } from "../../telemetry/log.ts";
import type { ApiDeps } from "../port.ts";
import { idleDeps } from "./served.ts";

/** The API with the scheduler's own planning behind it, and the mover's desk. */
export function planningDeps(store: MemoryStore): ApiDeps {
  const parts = { store, clock: systemClock, ids: createUuidIds(systemClock), log: silentLog };
  const moving = createMoveRequests(parts);
  const planning = createPlanRequests({ ...parts, moving });
  return {
    ...idleDeps(store),
    planning: { ...planning, describe: describePlan, names: planNames, review: reviewPlan },
    moving,
    draining: { ...createDrainRequests({ ...parts, planning, moving }), budget: 8 },
    review: reviewDecision,
    explainInstance,
  };
}
