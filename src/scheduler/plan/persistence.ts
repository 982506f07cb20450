import type { Limits } from "./limits.ts";
import type { PlannerPolicy } from "./planner-policy.ts";

/** How long an instance has to be above the bound before anybody leaves for it, in ms: less where it is beyond the hard limit too. */
export function persistenceOf(share: number, { hard }: Limits, { persistMs, persistFullMs }: PlannerPolicy): number {
  return share > hard ? Math.min(persistMs, persistFullMs) : persistMs;
}
