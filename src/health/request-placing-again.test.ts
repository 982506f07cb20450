import { beforeEach, describe, expect, it } from "vitest";
import type { InstanceVerdict } from "../domain/health.ts";
import type { UnitId } from "../domain/ids.ts";
import type { Instance } from "../domain/instance.ts";
import { createVirtualClock, type VirtualClock } from "../runtime/testing/virtual-clock.ts";
import { createMemoryStore, type MemoryStore } from "../store/adapters/memory/memory-store.ts";
import { createWorld, type World } from "../store/testing/world.ts";
import { silentLog } from "../telemetry/log.ts";
import { createPlacingAgain, type PlacingAgain } from "./request-placing-again.ts";
import { APART_MS, PLACE_AGAIN_AFTER_MS } from "./why-place-again.ts";

const never = new AbortController().signal;

describe("placing units again that an instance never compared", () => {
  let clock: VirtualClock;
  let store: MemoryStore;
  let world: World;
  let instance: Instance;
  let asked: UnitId[];
  let refusal: string | undefined;
  let placing: PlacingAgain;
  let units: UnitId[];
  let since: InstanceVerdict["since"];
  beforeEach(async () => {
    clock = createVirtualClock();
    store = createMemoryStore({ clock });
    world = createWorld(store);
    instance = await world.addInstance({ state: "ACTIVE" });
    [asked, refusal] = [[], undefined];
    const placeElsewhere = async (unit: UnitId): Promise<string | undefined> => {
      asked.push(unit);
      return refusal;
    };
    placing = createPlacingAgain({ store, placeElsewhere, clock, log: silentLog });
    units = [await placed("a"), await placed("b")];
    since = clock.now();
    await clock.advance(PLACE_AGAIN_AFTER_MS);
  });

  const placed = async (namespace: string): Promise<UnitId> => {
    const { id } = await world.unit((await world.record({ namespace })).applicationId);
    await world.place(id, instance.id);
    return id;
  };
  const probe = (): Promise<void> =>
    placing.probe(
      instance,
      {
        ...{ instanceId: instance.id, at: clock.now(), since, state: "stalled", cause: "controller-stopped", component: "controller" },
        ...{ text: "its controller stands still", evidence: [], baseline: undefined },
      },
      never,
    );

  it("requests it once for each unit, and for none that is younger than a minute", async () => {
    await placed("young");
    await probe();
    expect(asked).toEqual(units);
  });

  it("requests a refused unit again later, not with each probe and not before others", async () => {
    refusal = "no other instance takes it";
    await probe();
    await probe();
    expect(asked).toEqual(units);
    const late = await placed("late");
    await clock.advance(PLACE_AGAIN_AFTER_MS);
    await probe();
    expect(asked).toEqual([...units, late]);
    await clock.advance(APART_MS);
    await probe();
    expect(asked).toEqual([...units, late, ...units, late]);
  });
});
