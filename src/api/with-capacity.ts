import type { Calibration } from "../domain/calibration.ts";
import { classOf, type FleetSpec } from "../domain/fleet.ts";
import type { Instance } from "../domain/instance.ts";
import type { LoadVector } from "../domain/load.ts";

/** Why what an instance was seen to bear is not declared for its pool; `undefined`: nothing speaks against it. */
export function whyNotCalibrate(
  instance: Pick<Instance, "name" | "pool" | "class">,
  { fitted, doubts }: Pick<Calibration, "fitted" | "doubts">,
  spec: FleetSpec | undefined,
): string | undefined {
  const pool = spec?.pools.find((one) => one.name === instance.pool && classOf(one) === instance.class);
  if (pool === undefined) return `instance ${instance.name} is of pool ${instance.pool}, which is not declared: nothing holds its capacity`;
  if (doubts.length > 0) return `what ${instance.name} bears is doubted: ${doubts.join("; ")}`;
  return fitted === undefined ? `nobody can say what ${instance.name} bears` : undefined;
}

/** The fleet with this capacity for each instance of a pool. */
export function withCapacity(spec: FleetSpec, pool: string, capacity: LoadVector): FleetSpec {
  return { ...spec, pools: spec.pools.map((one) => (one.name === pool ? { ...one, capacity } : one)) };
}
