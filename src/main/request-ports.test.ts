import { beforeEach, describe, expect, it } from "vitest";
import type { VerdictState } from "../domain/health.ts";
import type { InstanceId, UnitId } from "../domain/ids.ts";
import type { Instance } from "../domain/instance.ts";
import type { PlaceElsewhere } from "../health/port.ts";
import { createCountingIds } from "../runtime/ids.ts";
import { createVirtualClock, type VirtualClock } from "../runtime/testing/virtual-clock.ts";
import { createMemoryStore, type MemoryStore } from "../store/adapters/memory/memory-store.ts";
import { createWorld, type World } from "../store/testing/world.ts";
import { silentLog } from "../telemetry/log.ts";
import { createRequestPorts, placingElsewhere } from "./request-ports.ts";

const never = new AbortController().signal;

describe("giving a unit to another instance, because its own never compared it", () => {
  let clock: VirtualClock;
  let store: MemoryStore;
  let world: World;
  let source: Instance;
  let unit: UnitId;
  let placeElsewhere: PlaceElsewhere;
  beforeEach(async () => {
    clock = createVirtualClock();
    store = createMemoryStore({ clock });
    world = createWorld(store);
    source = await world.addInstance({ state: "ACTIVE", name: "standard-1" });
    unit = (await world.unit((await world.record({ namespace: "team" })).applicationId)).id;
    await world.place(unit, source.id);
    const parts = { store, clock, ids: createCountingIds(), log: silentLog };
    placeElsewhere = placingElsewhere({ ...parts, ...createRequestPorts(parts) });
  });
  const judge = (instanceId: InstanceId, state: VerdictState): Promise<void> => {
    const at = clock.now();
    const verdict = {
      instanceId,
      at,
      since: at,
      state,
      cause: "redis",
      component: "redis",
      text: "",
      evidence: [],
      baseline: undefined,
    } as const;
    return store.health.record([{ sample: { at, signals: {} }, verdict, keepSince: at }], never);
  };
  const moves = () => store.moves.list({ unitId: unit }, 10, never);

  it("asks for a move without its own's help to one that works, and says why", async () => {
    const [broken, working] = [await world.addInstance({ state: "ACTIVE" }), await world.addInstance({ state: "ACTIVE" })];
    await judge(broken.id, "stalled");
    await judge(source.id, "stalled");
    expect(await placeElsewhere(unit, "standard-1 never compared it", never)).toBeUndefined();
    expect(await moves()).toEqual([
      expect.objectContaining({ from: source.id, to: working.id, kind: "evacuation", isFailOver: true, actor: "health", phase: "WAITING" }),
    ]);
    const [decision] = await store.decisions.list({ subject: unit }, 1, never);
    expect(JSON.stringify(decision)).toContain("standard-1 never compared it");
  });

  it("leaves it where no other one takes it, and where it is being moved already", async () => {
    expect(await placeElsewhere(unit, "", never)).toBe("no other instance takes it");
    await world.addInstance({ state: "ACTIVE" });
    expect(await placeElsewhere(unit, "", never)).toBeUndefined();
    expect(await placeElsewhere(unit, "", never)).toContain("it is being moved already");
    expect(await moves()).toHaveLength(1);
  });
});
