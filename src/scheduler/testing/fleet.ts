import { type Clock, millis } from "../../domain/clock.ts";
import type { ApplicationId, InstanceId, UnitId } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
import { loadVector, ZERO_LOAD } from "../../domain/load.ts";
import type { Store } from "../../store/port.ts";
import { createWorld, soon, type World } from "../../store/testing/world.ts";

export interface PlannedFleet {
  readonly world: World;
  readonly full: Instance;
  readonly roomy: Instance;
  /** Ids of the units on the full instance, by namespace: shop-00 and so on. */
  readonly units: ReadonlyMap<string, UnitId>;
  /** The one application of each of them. */
  readonly applications: ReadonlyMap<UnitId, ApplicationId>;
  /** Has every instance report that its units take what they are planned with. */
  report(total?: number): Promise<void>;
}

/** A store with one instance that is nine tenths full of workspaces of one application, and one with nothing on it. */
export async function plannedFleet(store: Store, clock: Clock): Promise<PlannedFleet> {
  const world = createWorld(store);
  const capacity = { ...loadVector(() => 100_000), applications: 20_000 };
  const served = { capacity, stateSince: millis(clock.now() - 30 * 24 * 3_600_000) };
  const full = await world.addInstance({ name: "standard-1", ...served });
  const roomy = await world.addInstance({ name: "standard-2", ...served });
  const units = new Map<string, UnitId>();
  const applications = new Map<UnitId, ApplicationId>();
  for (let index = 0; index < 18; index += 1) {
    const namespace = `shop-${String(index).padStart(2, "0")}`;
    const { applicationId } = await world.record({ namespace });
    const { id } = await world.unit(applicationId);
    await world.place(id, full.id);
    applications.set(id, applicationId);
    units.set(namespace, id);
  }
  const report = async (total = 1000): Promise<void> => {
    const sample = (instanceId: InstanceId) => ({ instanceId, at: clock.now(), total: { ...ZERO_LOAD, applications: total }, units: [] });
    for (const { id } of [full, roomy])
      await store.loads.recordSample({ ...sample(id), observation: undefined, cachedObjects: undefined }, soon());
  };
  await report();
  return { world, full, roomy, units, applications, report };
}
