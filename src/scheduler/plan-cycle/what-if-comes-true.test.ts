import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { millis } from "../../domain/clock.ts";
import type { InstanceId, UnitId } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
import { instanceIdOf } from "../../domain/instance-name.ts";
import { addLoad, type LoadVector, loadVector, ZERO_LOAD } from "../../domain/load.ts";
import type { Supposition } from "../../domain/what-if.ts";
import { createSeededRng } from "../../runtime/rng.ts";
import { createVirtualClock, type VirtualClock } from "../../runtime/testing/virtual-clock.ts";
import { createMemoryStore, type MemoryStore } from "../../store/adapters/memory/memory-store.ts";
import { aFleet, CLASS } from "../../store/testing/builders.ts";
import { createWorld, type World } from "../../store/testing/world.ts";
import { aPlanCycle } from "../testing/plan-cycle.ts";
import type { PlanRequests } from "./carry-out-plan.ts";
import type { PlanCycle } from "./controller.ts";
import type { DrainRequests } from "./empty-instance.ts";

const never = new AbortController().signal;
const CYCLE_MS = 120_000;
const HOUR_MS = 3_600_000;
const CPU = 2_000;
const INSTANCES = 6;
const UNITS = 90;
/** Long enough for everything that should move to have moved within its budgets. */
const DAYS = 2;

describe.each(["one", "two", "three"])("what would become of a class is what becomes of it, loads %s", (loadsOf) => {
  let clock: VirtualClock;
  let store: MemoryStore;
  let world: World;
  let planning: PlanRequests;
  let draining: DrainRequests;
  let cycle: PlanCycle;
  let loads: Map<UnitId, LoadVector>;
  let namespaces: Map<UnitId, string>;

  const addInstance = (index: number): Promise<Instance> =>
    world.addInstance({
      ...{
        id: instanceIdOf(`standard-${index}`),
        name: `standard-${index}`,
        stateSince: millis(clock.now() - (index > INSTANCES ? 0 : 30 * 24 * HOUR_MS)),
      },
      capacity: { ...loadVector(() => 1_000_000), milliCpu: CPU },
    });

  beforeEach(async () => {
    clock = createVirtualClock();
    store = createMemoryStore({ clock });
    world = createWorld(store);
    const rng = createSeededRng(loadsOf);
    const instances = [];
    for (let index = 1; index <= INSTANCES; index += 1) instances.push(await addInstance(index));
    loads = new Map();
    namespaces = new Map();
    for (let index = 0; index < UNITS; index += 1) {
      const namespace = `team-${index}`;
      const { id } = await world.unit((await world.record({ namespace })).applicationId);
      await world.place(id, instances[index % INSTANCES]?.id as InstanceId);
      // A few are large: between a tenth and four times the mean.
      loads.set(id, { ...ZERO_LOAD, milliCpu: Math.ceil(6 * 40 ** rng.next()) });
      namespaces.set(id, namespace);
    }
    const rebalancing = [{ class: CLASS, mode: "auto", movesPerHour: 50, movesPerDay: 200 } as const];
    await store.fleet.applyFleet(aFleet({ rebalancing }), "ada", never);
    const everything = { loadShare: 1_000_000, applications: 1_000, workspaceShare: 1_000_000, workspaces: 1_000 };
    ({ planning, draining, cycle } = aPlanCycle(store, clock, everything));
    await report();
    cycle.start(never);
    await cycle.idle();
  });
  afterEach(() => cycle.stop());

  const facts = () => store.plans.readFacts(CLASS, millis(0), never);
  /** Every instance reports what its units take. */
  const report = async (): Promise<void> => {
    const { units, instances } = await facts();
    const at = clock.now();
    for (const { id } of instances) {
      const own = units.flatMap(({ unit }) => (unit.owner === id ? [{ unitId: unit.id, epoch: unit.epoch }] : []));
      const measured = own.map((unit) => {
        const whole = loads.get(unit.unitId) ?? ZERO_LOAD;
        return { ...unit, load: { planning: whole, recent: whole, at }, whole };
      });
      const total = measured.reduce((sum, { whole }) => addLoad(sum, whole), ZERO_LOAD);
      await store.loads.recordSample(
        { instanceId: id, at, total, units: measured, observation: undefined, cachedObjects: undefined },
        never,
      );
    }
  };
  const pass = async (days: number): Promise<void> => {
    for (let passed = 0; passed < days * 24 * HOUR_MS; passed += CYCLE_MS) {
      await clock.advance(CYCLE_MS);
      await report();
      await vi.waitFor(() => cycle.idle());
    }
  };
  const whatIf = (supposition: Supposition) => planning.whatIf(CLASS, [supposition], never);
  const cpuShares = async (): Promise<readonly number[]> => {
    const { units, instances } = await facts();
    const serving = instances.filter(({ state }) => state === "ACTIVE");
    return serving
      .map(({ id }) => units.reduce((sum, { unit }) => sum + (unit.owner === id ? (loads.get(unit.id)?.milliCpu ?? 0) : 0), 0) / CPU)
      .toSorted((a, b) => a - b);
  };
  /** Largest and mean difference between what was said and what came, as parts of what came; instances in order of how full they are. */
  const errors = (predicted: readonly number[], real: readonly number[]) => {
    const each = real.map((share, index) => Math.abs((predicted[index] ?? 0) - share) / share);
    return { mean: each.reduce((sum, error) => sum + error, 0) / each.length, ofFullest: each.at(-1) ?? 1 };
  };
  const sharesAfter = (view: Awaited<ReturnType<typeof whatIf>>): readonly number[] =>
    view.instances.flatMap(({ after }) => (after === undefined ? [] : [after.share / 1_000_000])).toSorted((a, b) => a - b);

  it("with two instances fewer", async () => {
    const said = await whatIf({ kind: "instances", pool: "standard", by: -2 });
    const gone = said.instances.filter(({ after }) => after === undefined).map(({ name }) => name);
    expect(gone).toHaveLength(2);
    for (const instance of (await facts()).instances.filter(({ name }) => gone.includes(name)))
      await draining.begin(instance, { actor: "otto", reason: "fewer" }, never);
    await pass(1);
    const { mean, ofFullest } = errors(sharesAfter(said), await cpuShares());
    expect(mean).toBeLessThanOrEqual(0.1);
    expect(ofFullest).toBeLessThanOrEqual(0.1);
  });

  it("with two instances more", async () => {
    const said = await whatIf({ kind: "instances", pool: "standard", by: 2 });
    for (const index of [1, 2]) await addInstance(INSTANCES + index);
    await pass(DAYS);
    const { mean, ofFullest } = errors(sharesAfter(said), await cpuShares());
    expect(mean).toBeLessThanOrEqual(0.1);
    expect(ofFullest).toBeLessThanOrEqual(0.1);
  });

  it("with a workspace that takes ten times as much", async () => {
    const [large] = [...loads].toSorted(([, a], [, b]) => b.milliCpu - a.milliCpu).slice(30);
    if (large === undefined) throw new Error("there are no units");
    const [unit, load] = large;
    const said = await whatIf({ kind: "load", workspace: namespaces.get(unit), times: 10 });
    loads.set(unit, { ...load, milliCpu: load.milliCpu * 10 });
    await pass(DAYS);
    const { mean, ofFullest } = errors(sharesAfter(said), await cpuShares());
    expect(mean).toBeLessThanOrEqual(0.1);
    expect(ofFullest).toBeLessThanOrEqual(0.1);
  });
});
