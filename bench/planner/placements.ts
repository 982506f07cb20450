import { setImmediate } from "node:timers/promises";
import type { LoadVector } from "../../src/domain/load.ts";
import { addLoad } from "../../src/domain/load.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { createSeededRng } from "../../src/runtime/rng.ts";
import { createScheduler } from "../../src/scheduler/controller.ts";
import { createMemoryStore } from "../../src/store/adapters/memory/memory-store.ts";
import type { FleetSnapshot, PlacementStore, UnitWithWorkspace } from "../../src/store/placement/port.ts";
import { silentLog } from "../../src/telemetry/log.ts";
import { noMetrics } from "../../src/telemetry/metrics.ts";
import { waitingUnit } from "./fleet.ts";

/** How often the scheduler asked the store for what. */
export interface Asked {
  fleets: number;
  units: number;
  /** Of many units at once. */
  pages: number;
  placed: number;
  refused: number;
}

const EVERYTHING = { isMine: () => true, onChange: () => () => undefined };

/** A scheduler over units that wait for their first instance, on a fleet that is added up once and kept up to date. */
export function waitingOn(fleet: FleetSnapshot, count: number, load: LoadVector) {
  const asked: Asked = { fleets: 0, units: 0, pages: 0, placed: 0, refused: 0 };
  const waiting = new Map<string, UnitWithWorkspace>(
    Array.from({ length: count }, (_, index) => waitingUnit(index, load)).map((found) => [found.unit.id, found]),
  );
  const held = new Map(fleet.instances.map((each) => [each.instance.id as string, each]));
  const store = createMemoryStore({ clock: systemClock });
  const placements: PlacementStore = {
    ...store.placements,
    async readFleet() {
      asked.fleets += 1;
      await setImmediate();
      return { ...fleet, instances: [...held.values()] };
    },
    async readUnit(id) {
      asked.units += 1;
      await setImmediate();
      return waiting.get(id);
    },
    async readUnits(ids) {
      asked.pages += 1;
      await setImmediate();
      return ids.flatMap((id) => waiting.get(id) ?? []);
    },
    async listUnsettled({ limit, after }) {
      await setImmediate();
      const ids = [...waiting.values()].filter(({ unit }) => unit.owner === undefined && unit.id > after).map(({ unit }) => unit.id);
      return ids.slice(0, limit);
    },
    async commitFirstPlacement({ unitId, instanceId }) {
      asked.placed += 1;
      await setImmediate();
      const [found, there] = [waiting.get(unitId), held.get(instanceId)];
      if (found === undefined || there === undefined) return { kind: "stale" };
      held.set(instanceId, { ...there, load: addLoad(there.load, found.unit.load), units: there.units + 1 });
      waiting.delete(unitId);
      return { kind: "placed", epoch: asked.placed };
    },
    async recordUnplaceable() {
      asked.refused += 1;
      await setImmediate();
    },
  };
  const scheduler = createScheduler({
    store: { ...store, placements },
    moving: { askFor: () => Promise.resolve({ kind: "refused", why: "nothing moves here" }) },
    ...{ partition: EVERYTHING, clock: systemClock, rng: createSeededRng("bench"), log: silentLog, metrics: noMetrics },
  });
  return {
    asked,
    /** Starts it, and waits until each unit was tried. */
    async settle(): Promise<void> {
      const ending = new AbortController();
      scheduler.start(ending.signal);
      do {
        await setImmediate();
        await scheduler.idle();
      } while (asked.placed + asked.refused < count);
      await scheduler.stop();
    },
  };
}
