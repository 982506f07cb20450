import { isAnyScaled, withSizes } from "../domain/capacity.ts";
import type { FleetSpec } from "../domain/fleet.ts";
import type { Store } from "../store/port.ts";
import type { FleetFacts } from "./instance-orders.ts";
import type { ApiDeps, PlannedChange } from "./port.ts";

/** What is declared and there, and what another declaration would come to; `undefined`: no fleet is declared. */
export async function readPools(
  { store, planFleet }: Pick<ApiDeps, "planFleet"> & { readonly store: Pick<Store, "fleet" | "loads"> },
  signal: AbortSignal,
): Promise<(FleetFacts & { readonly revision: number; readonly planned: (spec: FleetSpec) => readonly PlannedChange[] }) | undefined> {
  const fleet = await store.fleet.readFleet(signal);
  if (fleet === undefined) return undefined;
  const [instances, units] = [await store.fleet.listInstances(signal), await store.fleet.countUnits(signal)];
  const sizes = isAnyScaled(fleet.spec) ? await store.loads.listSizes(signal) : {};
  return {
    spec: fleet.spec,
    revision: fleet.revision,
    instances,
    planned: (spec) => planFleet({ spec: withSizes(spec, sizes), pruned: fleet.pruned, instances, units }),
  };
}
