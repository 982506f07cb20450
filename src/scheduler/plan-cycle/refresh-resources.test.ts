import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { PoolSpec } from "../../domain/fleet.ts";
import type { InstanceVerdict } from "../../domain/health.ts";
import type { InstanceId } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
import { ZERO_LOAD } from "../../domain/load.ts";
import { raiseChangeOf } from "../../instance-provisioner/change.ts";
import { createVirtualClock, type VirtualClock } from "../../runtime/testing/virtual-clock.ts";
import { createMemoryStore, type MemoryStore } from "../../store/adapters/memory/memory-store.ts";
import { aDecision, aFleet, anInstance, aPool, CLASS } from "../../store/testing/builders.ts";
import { createWorld } from "../../store/testing/world.ts";
import { aPlanCycle } from "../testing/plan-cycle.ts";
import type { PlanCycle } from "./controller.ts";

const never = new AbortController().signal;
const CYCLE_MS = 120_000;
const [A, B] = ["a", "b"] as unknown as readonly [InstanceId, InstanceId];

describe("resources of a class, cycle by cycle", () => {
  let clock: VirtualClock;
  let store: MemoryStore;
  let cycle: PlanCycle;
  beforeEach(async () => {
    clock = createVirtualClock();
    store = createMemoryStore({ clock });
    cycle = aPlanCycle(store, clock).cycle;
    for (const id of [A, B]) await store.fleet.insertInstance(anInstance({ id, name: `standard-${id}` }), aDecision(), never);
  });
  afterEach(() => cycle.stop());

  const begin = async (max: PoolSpec["resources"]["max"] = { controller: { memory: "2Gi" } }): Promise<void> => {
    await declare(max);
    cycle.start(never);
    await vi.waitFor(() => cycle.idle());
  };
  const declare = (max: PoolSpec["resources"]["max"]) => {
    const { resources } = aPool("standard");
    const pool = aPool("standard", { resources: max === undefined ? resources : { ...resources, max } });
    return store.fleet.applyFleet(aFleet({ pools: [pool] }), "ada", never);
  };
  const judge = async (id: InstanceId, over: Partial<InstanceVerdict> = {}): Promise<void> => {
    const at = clock.now();
    const verdict: InstanceVerdict = {
      ...{ instanceId: id, state: "degraded", cause: "memory", component: "controller", text: "", evidence: [], at, since: at },
      ...{ baseline: undefined, ...over },
    };
    await store.health.record([{ sample: { at, signals: {} }, verdict, keepSince: at }], never);
  };
  const pass = async (cycles = 1, ids: readonly InstanceId[] = [A]): Promise<void> => {
    for (let index = 0; index < cycles; index += 1) {
      await clock.advance(CYCLE_MS - 10_000);
      for (const id of ids) await judge(id);
      await clock.advance(10_000);
      await vi.waitFor(() => cycle.idle());
    }
  };
  const read = async (id: InstanceId) => (await store.fleet.readInstance(id, never)) as Instance;
  const amountsOf = async () => [(await read(A)).raised?.amounts, (await read(B)).raised?.amounts];
  /** As the provisioner says it once pods are ready. */
  const settle = async (id: InstanceId): Promise<void> => {
    const instance = await read(id);
    const { before: _before, ...raised } = instance.raised!;
    await store.fleet.changeInstance(raiseChangeOf(instance, { raised, isTakenBack: false, reason: "", now: clock.now() }), never);
  };
  const journal = async (subject: string) =>
    (await store.decisions.list({ subject, kind: "instance" }, 100, never)).filter(({ verdict }) => verdict !== "RUNNING").toReversed();

  it("rise with what an instance runs out of, one instance at a time, up to what its pool allows", async () => {
    await begin();
    await pass(1, [A, B]);
    expect(await amountsOf()).toEqual([{ "controller.memory": "1536Mi" }, undefined]);
    expect((await read(A)).raised?.before).toEqual({});
    await pass(3, [A, B]);
    expect(await amountsOf()).toEqual([{ "controller.memory": "1536Mi" }, undefined]);
    await settle(A);
    await pass(1, [A, B]);
    expect(await amountsOf()).toEqual([{ "controller.memory": "1536Mi" }, { "controller.memory": "1536Mi" }]);
    await settle(B);
    await pass(20, [A, B]);
    expect(await amountsOf()).toEqual([{ "controller.memory": "2Gi" }, { "controller.memory": "1536Mi" }]);
    await settle(A);
    await pass(20, [A]);
    expect((await journal(A)).map(({ verdict, rule, details }) => [verdict, rule, details.reason])).toEqual([
      [
        "RAISED",
        "MEMORY",
        "controller.memory 1536Mi instead of 1Gi: its controller uses as much memory as it may, or was ended for more; expected: its controller is ended for it no more; it is replaced once",
      ],
      ["RAISED", "MEMORY", expect.stringContaining("controller.memory 2Gi instead of 1536Mi")],
      [
        "AT_MAXIMUM",
        "MAXIMUM",
        "its controller uses as much memory as it may, or was ended for more, and controller.memory 2Gi is all that its pool allows (resources.max)",
      ],
    ]);
    expect((await store.loads.readState(CLASS, never)).limits).toMatchObject({
      a: { amount: "controller.memory", given: "2Gi", why: "MAXIMUM" },
    });
  });

  it("say once what cannot be given, and forget it an hour after it was needed", async () => {
    await begin({ controller: { memory: "1Gi" } });
    await pass(10);
    await pass(10, []);
    await pass(1);
    expect((await journal(A)).map(({ verdict }) => verdict)).toEqual(["AT_MAXIMUM"]);
    await pass(36, []);
    expect((await store.loads.readState(CLASS, never)).limits).toEqual({});
    await pass(2);
    expect((await journal(A)).map(({ verdict }) => verdict)).toEqual(["AT_MAXIMUM", "AT_MAXIMUM"]);
  });

  it("stay as they are where the pool says nothing, or anything is frozen", async () => {
    const freeze = { name: "audit", at: clock.now(), durationMs: 3_600_000, schedule: undefined, actor: "ada", reason: "audit" };
    await store.directives.putFreeze(freeze, aDecision(), never);
    await begin();
    await pass(27);
    expect(await amountsOf()).toEqual([undefined, undefined]);
    await declare(undefined);
    await pass(3);
    expect(await amountsOf()).toEqual([undefined, undefined]);
    await declare({ controller: { memory: "2Gi" } });
    await pass(1);
    expect(await amountsOf()).toEqual([{ "controller.memory": "1536Mi" }, undefined]);
  });

  it("that cannot rise make an instance count as full, and its pool gets another one", async () => {
    const world = createWorld(store);
    const { id } = await world.unit((await world.record({ namespace: "team" })).applicationId);
    await world.place(id, A);
    const { resources } = aPool("standard");
    const pool = aPool("standard", { resources, instances: { min: 2, max: 5, scaling: "auto" } });
    await store.fleet.applyFleet(aFleet({ pools: [pool] }), "ada", never);
    cycle.start(never);
    await vi.waitFor(() => cycle.idle());
    const unit = { unitId: id, epoch: (await store.placements.readUnit(id, never))!.unit.epoch };
    const load = { ...ZERO_LOAD, applications: 1_000, cachedResources: 10 };
    const report = async (): Promise<void> => {
      const at = clock.now();
      const measured = { ...unit, load: { planning: load, recent: load, at }, whole: load };
      const nothing = { at, observation: undefined, cachedObjects: undefined };
      await store.loads.recordSample({ ...nothing, instanceId: A, total: load, units: [measured] }, never);
      await store.loads.recordSample({ ...nothing, instanceId: B, total: ZERO_LOAD, units: [] }, never);
    };
    const passReported = async (ids: readonly InstanceId[]): Promise<void> => {
      for (let index = 0; index < 3; index += 1) {
        await report();
        await pass(1, ids);
      }
    };
    const size = async () => (await store.loads.listSizes(never))["standard"];
    await passReported([]);
    expect(await size()).toBeUndefined();
    await passReported([A]);
    expect((await store.loads.readState(CLASS, never)).full).toMatchObject({ a: { load: { cachedResources: 10 } } });
    // Of two instances one bears no more than it holds: without the other one, nothing would be left.
    expect(await size()).toMatchObject({
      instances: 3,
      reason: expect.stringContaining("standard-a ran out of memory, and counts as full"),
    });
  });

  it("are those of repo-servers only where health has not found who ends them", async () => {
    await begin({ repoServer: { disk: "40Gi" } });
    const since = clock.now();
    const evicted = { state: "failed", cause: "disk", component: "repo-server", since } as const;
    await store.decisions.append([aDecision({ at: since, subject: A, kind: "health", verdict: "QUARANTINE", rule: "DISK" })], never);
    for (let index = 0; index < 4; index += 1) {
      await clock.advance(CYCLE_MS - 10_000);
      for (const id of [A, B]) await judge(id, evicted);
      await clock.advance(10_000);
      await vi.waitFor(() => cycle.idle());
    }
    expect(await amountsOf()).toEqual([undefined, { "repoServer.disk": "30Gi" }]);
  });
});
