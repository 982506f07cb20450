import type { Clock, Millis } from "../domain/clock.ts";
import { unfitState } from "../domain/health.ts";
import type { InstanceId } from "../domain/ids.ts";
import type { Instance } from "../domain/instance.ts";
import type { PlacementUnit } from "../domain/workspace.ts";
import { giveTurns } from "../runtime/give-turns.ts";
import type { FleetSnapshot, PlacementStore } from "../store/placement/port.ts";
import type { Candidate } from "./candidate.ts";
import { instanceTraits } from "./instance-traits.ts";
import { openPlacementFleetInTurns, type PlacementFleet } from "./placement-fleet.ts";
import { DEFAULT_POLICY } from "./policy.ts";
import type { createRingMemo } from "./ring-memo.ts";

/** How long what instances hold is taken to be as it was read, in ms. */
const KEPT_MS = 1_000;

/** The instances of a class as they were read, and made ready for placements. */
export interface OpenFleet {
  /** Those that are not retired. */
  readonly instances: readonly Instance[];
  readonly placements: PlacementFleet;
}

export interface FleetDeps {
  readonly store: { readonly placements: Pick<PlacementStore, "readFleet"> };
  readonly clock: Clock;
  readonly ringsOf: ReturnType<typeof createRingMemo>;
}

export interface KeptFleets {
  /** The store's placements. Once one of them found no room, the next choice reads the fleet anew. */
  readonly placements: PlacementStore;
  /** A class's instances, as they were read at most a second ago. */
  read(className: string, signal: AbortSignal): Promise<OpenFleet>;
  /** Adds a unit that was placed to what its instance holds. */
  add(unit: Pick<PlacementUnit, "class" | "load">, instanceId: InstanceId): void;
  /** The next choice reads the fleet anew: an instance has changed. */
  forget(): void;
}

interface Kept {
  readonly readAtMs: number;
  readonly fleet: Promise<OpenFleet>;
}

/**
 * Keeps what the instances of each class hold for a second, with what is placed on them meanwhile. To read it all units of the class are added up, which
 * is too much for each of a thousand units that wait. A choice that is made from what is kept may be wrong by what others did in that second: the
 * commit finds that out from the rows, and is followed by a choice from a fleet that is read anew.
 */
export function keepFleets(deps: Omit<FleetDeps, "store"> & { readonly store: { readonly placements: PlacementStore } }): KeptFleets {
  const { store, clock } = deps;
  const { placements } = store;
  const kept = new Map<string, Kept>();
  return {
    placements: {
      ...placements,
      async commitFirstPlacement(placement, signal) {
        const outcome = await placements.commitFirstPlacement(placement, signal);
        if (outcome.kind !== "placed") kept.clear();
        return outcome;
      },
    },
    read(className, signal) {
      const known = kept.get(className);
      if (known !== undefined && clock.monotonicMs() - known.readAtMs < KEPT_MS) return known.fleet;
      const fresh = { readAtMs: clock.monotonicMs(), fleet: readOpenFleet(deps, className, signal) };
      kept.set(className, fresh);
      fresh.fleet.catch(() => kept.get(className) === fresh && kept.delete(className));
      return fresh.fleet;
    },
    add(unit, instanceId) {
      kept.get(unit.class)?.fleet.then(
        (fleet) => fleet.placements.add(instanceId, unit.load),
        () => undefined,
      );
    },
    forget: () => kept.clear(),
  };
}

/** Reads the instances of a class, and makes them ready for placements. */
export async function readOpenFleet({ store, clock, ringsOf }: FleetDeps, className: string, signal: AbortSignal): Promise<OpenFleet> {
  const fleet = await store.placements.readFleet(className, signal);
  const work = openPlacementFleetInTurns(candidatesOf(fleet, clock.now()), DEFAULT_POLICY.hardLimit, ringsOf(className));
  return { instances: fleet.instances.map(({ instance }) => instance), placements: await giveTurns(work, clock, signal) };
}

function candidatesOf(fleet: FleetSnapshot, now: Millis): readonly Candidate[] {
  return fleet.instances.map(({ instance, load, verdict }) => {
    const { id, name, state, entries, capacity, weight } = instance;
    const health = unfitState(verdict, now);
    const own = entries === "shared" ? {} : { entries };
    const candidate = { id, name, state, ...own, traits: instanceTraits(instance, fleet.floor), capacity, weight, load };
    return health === undefined ? candidate : { ...candidate, health };
  });
}
