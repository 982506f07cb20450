import { createMoveRequests } from "../../mover/request-moves.ts";
import { createCountingIds } from "../../runtime/ids.ts";
import { createSeededRng } from "../../runtime/rng.ts";
import type { VirtualClock } from "../../runtime/testing/virtual-clock.ts";
import type { MemoryStore } from "../../store/adapters/memory/memory-store.ts";
import { silentLog } from "../../telemetry/log.ts";
import { noMetrics } from "../../telemetry/metrics.ts";
import type { ApprovalLimits } from "../plan/planner-policy.ts";
import { createPlanRequests } from "../plan-cycle/carry-out-plan.ts";
import { createPlanCycle } from "../plan-cycle/controller.ts";
import { createDrainRequests } from "../plan-cycle/empty-instance.ts";

/** A plan cycle that plans for every class and relieves, with the requests that it makes; it is not started. */
export function aPlanCycle(store: MemoryStore, clock: VirtualClock, approval?: ApprovalLimits) {
  const parts = { store, clock, ids: createCountingIds(), log: silentLog };
  const moving = createMoveRequests(parts);
  const planning = createPlanRequests({ ...parts, moving });
  const draining = createDrainRequests({ ...parts, planning, moving });
  const cycle = createPlanCycle({
    ...{ ...parts, moving, planning, draining, relieves: true, approval, rng: createSeededRng("plans"), metrics: noMetrics },
    partition: { isMine: () => true, onChange: () => () => undefined },
  });
  return { parts, planning, draining, cycle };
}
