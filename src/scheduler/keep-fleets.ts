import type { Clock } from "../domain/clock.ts";
import type { InstanceId } from "../domain/ids.ts";
import { loadOn } from "../domain/instance.ts";
import { addLoad } from "../domain/load.ts";
import type { PlacementUnit } from "../domain/workspace.ts";
import type { FleetSnapshot, PlacementStore } from "../store/placement/port.ts";

/** How long what instances hold is taken to be as it was read, in ms. */
const KEPT_MS = 1_000;

export interface KeptFleets {
  /** The store's placements, with fleets as they are kept. */
  readonly placements: PlacementStore;
  /** Adds a unit that was placed to what its instance holds. */
  add(unit: Pick<PlacementUnit, "class" | "load">, instanceId: InstanceId): void;
  /** The next choice reads the fleet anew: an instance has changed. */
  forget(): void;
}

interface Kept {
  readonly readAtMs: number;
  readonly fleet: Promise<FleetSnapshot>;
}

/**
 * Keeps what the instances of each class hold for a second, with what is placed on them meanwhile. To read it all units of the class are added up, which
 * is too much for each of a thousand units that wait. A choice that is made from what is kept may be wrong by what others did in that second: the
 * commit finds that out from the rows, and is followed by a choice from a fleet that is read anew.
 */
export function keepFleets(placements: PlacementStore, clock: Clock): KeptFleets {
  const kept = new Map<string, Kept>();
  const keep = (className: string, one: Kept): Promise<FleetSnapshot> => {
    kept.set(className, one);
    one.fleet.catch(() => kept.get(className) === one && kept.delete(className));
    return one.fleet;
  };
  const read = (className: string, signal: AbortSignal): Promise<FleetSnapshot> => {
    const known = kept.get(className);
    if (known !== undefined && clock.monotonicMs() - known.readAtMs < KEPT_MS) return known.fleet;
    return keep(className, { readAtMs: clock.monotonicMs(), fleet: placements.readFleet(className, signal) });
  };
  return {
    placements: {
      ...placements,
      readFleet: read,
      async commitFirstPlacement(placement, signal) {
        const outcome = await placements.commitFirstPlacement(placement, signal);
        if (outcome.kind !== "placed") kept.clear();
        return outcome;
      },
    },
    add(unit, instanceId) {
      const known = kept.get(unit.class);
      if (known === undefined) return;
      void keep(unit.class, { ...known, fleet: known.fleet.then((fleet) => withUnit(fleet, unit, instanceId)) });
    },
    forget: () => kept.clear(),
  };
}

function withUnit(fleet: FleetSnapshot, { load: more }: Pick<PlacementUnit, "load">, instanceId: InstanceId): FleetSnapshot {
  const instances = fleet.instances.map((each) => {
    const { instance, load, units } = each;
    return instance.id === instanceId ? { ...each, load: addLoad(load, loadOn(instance, more)), units: units + 1 } : each;
  });
  return { ...fleet, instances };
}
