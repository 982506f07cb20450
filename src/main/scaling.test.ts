import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { millis } from "../domain/clock.ts";
import type { InstanceId, UnitId } from "../domain/ids.ts";
import type { Instance } from "../domain/instance.ts";
import { addLoad, type LoadVector, loadVector, ZERO_LOAD } from "../domain/load.ts";
import type { Peak } from "../domain/peaks.ts";
import { createReconcilePool, type ReconcilePool } from "../instance-provisioner/reconcile-pool.ts";
import { createVirtualClock, type VirtualClock } from "../runtime/testing/virtual-clock.ts";
import type { PlanCycle } from "../scheduler/plan-cycle/controller.ts";
import { aPlanCycle } from "../scheduler/testing/plan-cycle.ts";
import { createMemoryStore, type MemoryStore } from "../store/adapters/memory/memory-store.ts";
import { aDecision, aFleet, aPool, CLASS } from "../store/testing/builders.ts";
import { createWorld, type World } from "../store/testing/world.ts";

const never = new AbortController().signal;
const CYCLE_MS = 120_000;
const HOUR_MS = 3_600_000;
const CPU = 1_000;
const UNITS = 60;
const CAPACITY = { ...loadVector(() => 1_000_000), milliCpu: CPU };
/** How long an instance takes until it serves. */
const CREATION_MS = 10 * 60_000;

// Days of a fleet take seconds of CPU; the deadline is for machines that do much else.
describe("a pool whose size is decided by load", { timeout: 300_000 }, () => {
  let clock: VirtualClock;
  let store: MemoryStore;
  let world: World;
  let cycle: PlanCycle;
  let reconcilePool: ReconcilePool;
  let units: UnitId[];
  /** What the whole class takes at a time, in thousandths of a core. */
  let demand: (at: number) => number;

  beforeEach(async () => {
    clock = createVirtualClock();
    store = createMemoryStore({ clock });
    world = createWorld(store);
    const { parts, cycle: made } = aPlanCycle(store, clock);
    cycle = made;
    reconcilePool = createReconcilePool({ ...parts, fleet: store.fleet, loads: store.loads });
  });
  afterEach(() => cycle.stop());

  const instances = async (): Promise<readonly Instance[]> =>
    (await store.fleet.listInstances(never)).filter(({ state }) => state !== "RETIRED");
  const begin = async (bounds: { readonly min: number; readonly max: number; readonly peaks?: readonly Peak[] }): Promise<void> => {
    const pool = aPool("standard", { instances: { ...bounds, scaling: "auto" }, capacity: CAPACITY });
    const rebalancing = [{ class: CLASS, mode: "auto", movesPerHour: 50, movesPerDay: 1_000 } as const];
    await store.fleet.applyFleet(aFleet({ pools: [pool], rebalancing }), "ada", never);
    await provision();
    for (const instance of await instances()) await become(instance, "ACTIVE");
    const serving = await instances();
    units = [];
    for (let index = 0; index < UNITS; index += 1) {
      const { id } = await world.unit((await world.record({ namespace: `team-${index}` })).applicationId);
      await world.place(id, serving[index % serving.length]?.id as InstanceId);
      units.push(id);
    }
    await report();
    cycle.start(never);
    await cycle.idle();
  };
  const become = (instance: Instance, state: Instance["state"]): Promise<Instance> =>
    store.fleet.changeInstance(
      {
        id: instance.id,
        revision: instance.revision,
        state,
        reason: "",
        cause: undefined,
        attempt: 0,
        decision: aDecision({ subject: instance.id }),
      },
      never,
    );
  /** The pool's rows, and what would become of instances on a cluster. */
  const provision = async (): Promise<void> => {
    await reconcilePool("standard", never);
    const held = await store.fleet.countUnits(never);
    for (const instance of await instances()) {
      if (instance.state === "REQUESTED" && clock.now() - instance.stateSince >= CREATION_MS) await become(instance, "ACTIVE");
      if (instance.state === "DRAINING" && !held.has(instance.id)) await become(instance, "RETIRED");
    }
  };
  const report = async (): Promise<void> => {
    const { units: rows } = await store.plans.readFacts(CLASS, millis(0), never);
    const at = clock.now();
    const whole: LoadVector = { ...ZERO_LOAD, milliCpu: Math.ceil(demand(at) / UNITS) };
    for (const { id, state } of await instances()) {
      if (state === "REQUESTED") continue;
      const own = rows.flatMap(({ unit }) => (unit.owner === id ? [{ unitId: unit.id, epoch: unit.epoch }] : []));
      const measured = own.map((unit) => ({ ...unit, load: { planning: whole, recent: whole, at }, whole }));
      const total = measured.reduce((sum) => addLoad(sum, whole), ZERO_LOAD);
      await store.loads.recordSample(
        { instanceId: id, at, total, units: measured, observation: undefined, cachedObjects: undefined },
        never,
      );
    }
  };
  /** Returns how many instances served, and how full the class was, cycle by cycle. */
  const pass = async (hours: number): Promise<readonly { readonly serving: number; readonly used: number }[]> => {
    const seen = [];
    for (let passed = 0; passed < hours * HOUR_MS; passed += CYCLE_MS) {
      await clock.advance(CYCLE_MS);
      await provision();
      await report();
      await vi.waitFor(() => cycle.idle());
      const serving = (await instances()).filter(({ state }) => state === "ACTIVE").length;
      seen.push({ serving, used: demand(clock.now()) / (serving * CPU) });
    }
    return seen;
  };
  const verdicts = async () =>
    (await store.decisions.list({ kind: "plan" }, 1_000, never))
      .map(({ verdict }) => verdict)
      .filter((verdict) => ["GROWN", "SHRUNK", "AT_CEILING"].includes(verdict))
      .toReversed();

  it("grows before it is full, and shrinks hours after it was", async () => {
    const start = clock.now();
    demand = (at) =>
      at - start < 6 * HOUR_MS ? 1_000 : at - start < 18 * HOUR_MS ? Math.min(3_000, 1_000 + (at - start - 6 * HOUR_MS) / 10_800) : 900;
    await begin({ min: 2, max: 8 });
    const up = await pass(18);
    expect(Math.max(...up.map(({ used }) => used))).toBeLessThanOrEqual(0.9);
    expect(up.at(-1)?.serving).toBeGreaterThanOrEqual(4);
    const down = await pass(48);
    expect(down.at(-1)?.serving).toBeLessThanOrEqual(3);
    expect(Math.max(...down.map(({ used }) => used))).toBeLessThanOrEqual(0.9);
    const changes = await verdicts();
    expect(changes.slice(0, 1)).toEqual(["GROWN"]);
    expect(changes.at(-1)).toBe("SHRUNK");
    expect(changes.filter((verdict, index) => verdict === "GROWN" && changes[index - 1] === "SHRUNK")).toEqual([]);
    expect((await store.fleet.countUnits(never)).size).toBe(down.at(-1)?.serving);
    const gone = (await store.fleet.listInstances(never)).filter(({ state }) => state === "RETIRED");
    expect(gone.length).toBeGreaterThan(0);
  });

  describe("before a launch", () => {
    const AHEAD_HOURS = 8;
    const LAUNCH_HOURS = 4;
    /** Three times as much within the hour, and as much as before when it is over. */
    const launch = async (peaks: readonly Peak[]) => {
      const from = clock.now() + AHEAD_HOURS * HOUR_MS;
      demand = (at) => (at >= from && at < from + LAUNCH_HOURS * HOUR_MS ? 2_700 : 900);
      await begin({ min: 2, max: 8, peaks });
      return {
        before: await pass(AHEAD_HOURS),
        during: await pass(LAUNCH_HOURS),
        after: await pass(48),
      };
    };
    /** That very hour and day, once a year. The virtual clock begins at a full hour of UTC. */
    const at = (): string => {
      const begins = new Date(clock.now() + AHEAD_HOURS * HOUR_MS);
      return `0 ${begins.getUTCHours()} ${begins.getUTCDate()} ${begins.getUTCMonth() + 1} *`;
    };
    const most = (seen: readonly { readonly used: number }[]): number => Math.max(...seen.map(({ used }) => used));

    it("is too small for it where nobody declared it", async () => {
      expect(most((await launch([])).during)).toBeGreaterThan(1);
    });

    it.each([
      ["by a factor", { factor: 3 }],
      ["by a number of instances", { instances: 4 }],
    ])("is large enough when it begins, where it was declared %s, and shrinks when it is over", async (_how, size) => {
      const { before, during, after } = await launch([{ name: "launch", schedule: at(), duration: "4h", ...size }]);
      expect(before[0]?.serving).toBe(2);
      expect(most(during)).toBeLessThan(0.9);
      expect(Math.min(...during.map(({ serving }) => serving))).toBeGreaterThanOrEqual(4);
      const [grown] = (await store.decisions.list({ kind: "plan", verdict: "GROWN" }, 100, never)).toReversed();
      expect(grown?.details.reason).toMatch(/peak launch \(2\d{3}-.*Z to 2\d{3}-.*Z\) asks for (3 times as much|4 instances)/);
      expect(after.at(-1)?.serving).toBeLessThanOrEqual(3);
    });

    it("gets what a peak asks for in instances also while nothing is measured", async () => {
      demand = () => 900;
      await begin({ min: 2, max: 8, peaks: [{ name: "launch", schedule: at(), duration: "4h", instances: 4 }] });
      for (let passed = 0; passed < 6 * HOUR_MS; passed += CYCLE_MS) {
        await clock.advance(CYCLE_MS);
        await provision();
        await vi.waitFor(() => cycle.idle());
      }
      expect((await instances()).length).toBe(4);
      expect(await verdicts()).toEqual(["GROWN"]);
      const [entry] = await store.decisions.list({ kind: "plan", verdict: "GROWN" }, 1, never);
      expect(entry).toMatchObject({ rule: "PEAK" });
      expect(entry?.details).not.toHaveProperty("soon");
    });
  });

  it("says once that it needs more than it may have", async () => {
    demand = () => 1_900;
    await begin({ min: 2, max: 2 });
    await pass(4);
    expect(await verdicts()).toEqual(["AT_CEILING"]);
    expect(await instances()).toHaveLength(2);
    expect((await store.loads.readState(CLASS, never)).sizing).toMatchObject({ shortSince: expect.any(Number), soon: expect.any(Number) });
  });

  it("grows at once with a load that doubles at once, and gives nothing up for a day after one that fell at once", async () => {
    let level = 850;
    demand = () => level;
    await begin({ min: 2, max: 8 });
    await pass(2);
    level = 2_400;
    await pass(1);
    expect(await verdicts()).toEqual(["GROWN"]);
    await pass(25);
    level = 900;
    await pass(20);
    expect(await verdicts()).toEqual(["GROWN"]);
    await pass(14);
    expect(await verdicts()).toContain("SHRUNK");
  });

  it("is decided once, however long an instance takes to be there", async () => {
    demand = () => 2_400;
    await begin({ min: 2, max: 8 });
    for (let passed = 0; passed < 5; passed += 1) {
      await clock.advance(CYCLE_MS);
      await report();
      await vi.waitFor(() => cycle.idle());
    }
    expect(await verdicts()).toEqual(["GROWN"]);
    expect(await instances()).toHaveLength(2);
  });

  it("has what was declared again once that is declared", async () => {
    demand = () => 2_400;
    await begin({ min: 2, max: 8 });
    await pass(3);
    expect((await instances()).length).toBeGreaterThan(2);
    await store.fleet.applyFleet(
      aFleet({ pools: [aPool("standard", { instances: { min: 2, max: 8 }, capacity: CAPACITY })] }),
      "ada",
      never,
    );
    await pass(1);
    expect(await store.loads.listSizes(never)).toEqual({});
  });
});
