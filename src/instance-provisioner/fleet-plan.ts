import type { FleetSpec } from "../domain/fleet.ts";
import type { InstanceId } from "../domain/ids.ts";
import type { Instance } from "../domain/instance.ts";
import { type PoolPlan, planPool, planPoolRemoval } from "./pool-plan.ts";

export interface FleetPlanFacts {
  readonly spec: FleetSpec;
  /** Undeclared pools that were removed on purpose. */
  readonly pruned: readonly string[];
  readonly instances: readonly Instance[];
  readonly units: ReadonlyMap<InstanceId, number>;
}

/** What happens to one instance, for people. */
export interface PlannedFleetChange {
  readonly instance: string;
  readonly pool: string;
  /**
   * `waits`: it gets no new units, and is retired once it holds none. `left`: its pool is not declared, and was not
   * removed on purpose.
   */
  readonly change: "created" | "retired" | "waits" | "recalled" | "resized" | "left";
  readonly units: number;
  readonly reason: string;
}

/** What a declared fleet changes about its instances: the plans of all pools, sorted by name. */
export function planFleet(facts: FleetPlanFacts): readonly PlannedFleetChange[] {
  const { spec, pruned, instances, units } = facts;
  const declared = spec.pools.flatMap((pool) => tell(planPool({ pool, fleet: spec, instances, units }), units));
  const removed = pruned.flatMap((name) => tell(planPoolRemoval({ name, instances, units }), units));
  const known = new Set([...spec.pools.map(({ name }) => name), ...pruned]);
  const left = instances
    .filter(({ pool, state }) => !known.has(pool) && state !== "RETIRED" && state !== "DRAINING")
    .map((instance) => line("left", instance, { units, reason: "its pool is not declared: --prune retires it" }));
  return [...declared, ...removed, ...left].toSorted((a, b) =>
    a.pool === b.pool ? compare(a.instance, b.instance) : compare(a.pool, b.pool),
  );
}

function tell({ request, drain, cordon, uncordon, resize }: PoolPlan, units: FleetPlanFacts["units"]): readonly PlannedFleetChange[] {
  return [
    ...request.map(({ name, pool, reason }) => ({ instance: name, pool, change: "created" as const, units: 0, reason })),
    ...drain.map(({ instance, reason }) => line("retired", instance, { units, reason })),
    ...cordon.map(({ instance, reason }) => line("waits", instance, { units, reason })),
    ...uncordon.map(({ instance, reason }) => line("recalled", instance, { units, reason })),
    ...resize.map(({ instance }) => line("resized", instance, { units, reason: "its pool declares another capacity" })),
  ];
}

function line(
  change: PlannedFleetChange["change"],
  { id, name, pool }: Instance,
  { units, reason }: { readonly units: FleetPlanFacts["units"]; readonly reason: string },
): PlannedFleetChange {
  return { instance: name, pool, change, units: units.get(id) ?? 0, reason };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
