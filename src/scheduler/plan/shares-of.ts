import type { InstanceId } from "../../domain/ids.ts";
import { type Instance, loadOn } from "../../domain/instance.ts";
import { addLoad, ZERO_LOAD } from "../../domain/load.ts";
import { type Resumable, visitInTurns } from "../../domain/resumable.ts";
import { dominantShare } from "../utilisation.ts";
import type { PlanningUnit } from "./assemble.ts";

/** How full each instance is, ppm of its capacity in its fullest dimension, and how many units it has, where each unit lives on `ownerOf`. */
export function* sharesInTurns(
  instances: readonly Instance[],
  units: readonly PlanningUnit[],
  ownerOf: (row: PlanningUnit) => InstanceId | undefined,
): Resumable<ReadonlyMap<InstanceId, { readonly share: number; readonly units: number }>> {
  const held = new Map(instances.map(({ id }) => [id, { load: ZERO_LOAD, units: 0 }]));
  yield* visitInTurns(units, (row) => {
    const owner = ownerOf(row);
    const known = owner === undefined ? undefined : held.get(owner);
    if (owner !== undefined && known !== undefined) held.set(owner, { load: addLoad(known.load, row.unit.load), units: known.units + 1 });
  });
  return new Map(
    instances.map((instance) => {
      const { load, units: count } = held.get(instance.id) ?? { load: ZERO_LOAD, units: 0 };
      return [instance.id, { share: dominantShare(loadOn(instance, load, count), instance.capacity), units: count }];
    }),
  );
}
