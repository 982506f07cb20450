import { beforeEach, describe, expect, it } from "vitest";
import type { InstanceId, UnitId } from "../domain/ids.ts";
import { ZERO_LOAD } from "../domain/load.ts";
import { createVirtualClock, type VirtualClock } from "../runtime/testing/virtual-clock.ts";
import { createMemoryStore, type MemoryStore } from "../store/adapters/memory/memory-store.ts";
import { aDecision, CLASS, WIDE } from "../store/testing/builders.ts";
import { createWorld, type World } from "../store/testing/world.ts";
import { type KeptFleets, keepFleets } from "./keep-fleets.ts";
import { createRingMemo } from "./ring-memo.ts";

const never = new AbortController().signal;

describe("fleets that are kept", () => {
  let clock: VirtualClock;
  let store: MemoryStore;
  let world: World;
  let reads: number;
  let fails: boolean;
  let fleets: KeptFleets;
  let instanceId: InstanceId;
  beforeEach(async () => {
    clock = createVirtualClock();
    store = createMemoryStore({ clock });
    world = createWorld(store);
    [reads, fails] = [0, false];
    const readFleet: typeof store.placements.readFleet = (className, signal) => {
      reads += 1;
      return fails ? Promise.reject(new Error("away")) : store.placements.readFleet(className, signal);
    };
    fleets = keepFleets({ store: { placements: { ...store.placements, readFleet } }, clock, ringsOf: createRingMemo() });
    instanceId = (await world.addInstance()).id;
  });
  const read = (className = CLASS) => fleets.read(className, never);

  it("are read once for a thousand units that wait, and anew after a second", async () => {
    for (let unit = 0; unit < 1000; unit += 1) await read();
    expect(reads).toBe(1);
    await clock.advance(999);
    await read();
    expect(reads).toBe(1);
    await clock.advance(1);
    await read();
    expect(reads).toBe(2);
  });

  it("are read once for all who ask while they are read, and for each class", async () => {
    const [one, other] = await Promise.all([read(), read()]);
    expect(one).toBe(other);
    await read("us/shared/public");
    expect(reads).toBe(2);
  });

  it("have what was placed meanwhile, as a fleet that is read anew has it", async () => {
    for (const entries of ["shared", "per-workspace"] as const) {
      const { id } = await world.addInstance({ entries, class: `${entries}/shared/public` });
      const { applicationId } = await world.record({ namespace: `of ${entries}`, class: `${entries}/shared/public` });
      const unit = await world.unit(applicationId);
      await read(unit.class);
      await world.place(unit.id, id);
      fleets.add(unit, id);
      const before = reads;
      const [kept, { instances }] = [await read(unit.class), await store.placements.readFleet(unit.class, never)];
      expect(kept.placements.candidates().map(({ load }) => load)).toEqual(instances.map(({ load }) => load));
      expect(reads).toBe(before);
    }
  });

  it("are read anew once an instance has changed, or a commit has found no room", async () => {
    await read();
    fleets.forget();
    await read();
    expect(reads).toBe(2);
    const placement = { unitId: "nobody" as UnitId, rowVersion: 1, instanceId, ceiling: WIDE, decision: aDecision() };
    expect(await fleets.placements.commitFirstPlacement(placement, never)).toEqual({ kind: "stale" });
    await read();
    expect(reads).toBe(3);
  });

  it("are not kept where they could not be read", async () => {
    fails = true;
    const failed = read();
    fleets.add({ class: CLASS, load: ZERO_LOAD }, instanceId);
    await expect(failed).rejects.toThrow("away");
    await expect(read()).rejects.toThrow("away");
    fails = false;
    expect((await read()).instances).toHaveLength(1);
  });
});
