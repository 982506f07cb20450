import type { EngineSettings, FleetSpec } from "../domain/fleet.ts";
import type { Workers } from "./derive-signals.ts";
import type { HealthSettings } from "./rules.ts";

/** Argo CD's own, where a pool is not declared any more. */
const OWN: Pick<EngineSettings, "statusProcessors" | "operationProcessors" | "reconciliationSeconds" | "reconciliationJitterSeconds"> = {
  ...{ statusProcessors: 20, operationProcessors: 10, reconciliationSeconds: 120, reconciliationJitterSeconds: 60 },
};

/** How many workers the instances of a pool have, and how often they look at an application by themselves. */
export function engineOf(
  fleet: FleetSpec | undefined,
  pool: string,
): { readonly workers: Workers; readonly timing: Pick<HealthSettings, "resyncS" | "jitterS"> } {
  const engine = fleet?.pools.find(({ name }) => name === pool)?.engine ?? OWN;
  const { statusProcessors, operationProcessors, reconciliationSeconds: resyncS, reconciliationJitterSeconds: jitterS } = engine;
  return { workers: { statusProcessors, operationProcessors }, timing: { resyncS, jitterS } };
}
