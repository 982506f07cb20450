import { beforeEach, describe, expect, it } from "vitest";
import type { Instance } from "../../domain/instance.ts";
import { createMoveRequests } from "../../mover/request-moves.ts";
import { createFaultPoints, FAULT_MODES, type FaultPoints } from "../../reconciler/testing/faults.ts";
import { createCountingIds } from "../../runtime/ids.ts";
import { createVirtualClock, type VirtualClock } from "../../runtime/testing/virtual-clock.ts";
import { createMemoryStore, type MemoryStore } from "../../store/adapters/memory/memory-store.ts";
import { anObject } from "../../store/testing/builders.ts";
import { silentLog } from "../../telemetry/log.ts";
import { type PlannedFleet, plannedFleet } from "../testing/fleet.ts";
import { createPlanRequests } from "./carry-out-plan.ts";
import { createDrainRequests, type DrainRequests } from "./empty-instance.ts";

const never = new AbortController().signal;
const CALLS = new Set([
  ...["readFacts", "record", "read", "list", "listSteps", "recordApplied", "commitMove", "changeInstance"],
  ...["request", "readUnit", "readInstance"],
]);
const DEPLOYED = 3;

describe("emptying an instance", () => {
  let clock: VirtualClock;
  let store: MemoryStore;
  let fleet: PlannedFleet;
  const ids = createCountingIds();
  beforeEach(begin);

  async function begin(): Promise<void> {
    clock = createVirtualClock();
    store = createMemoryStore({ clock });
    fleet = await plannedFleet(store, clock);
    for (const unit of [...fleet.units.values()].slice(0, DEPLOYED)) {
      const { epoch } = (await store.placements.readUnit(unit, never))!.unit;
      const subject = fleet.applications.get(unit)!;
      await store.shards.acknowledge([anObject({ instanceId: fleet.full.id, subject, epoch })], never);
    }
  }

  const requests = (points?: FaultPoints): DrainRequests => {
    const wrap = <T extends object>(port: T): T => points?.wrap(port) ?? port;
    const { plans, moves, shards, fleet: instances, placements } = store;
    const parts = {
      store: { plans: wrap(plans), moves: wrap(moves), shards: wrap(shards), fleet: wrap(instances), placements: wrap(placements) },
      clock,
      ids,
      log: silentLog,
    };
    const moving = createMoveRequests(parts);
    return createDrainRequests({ ...parts, moving, planning: createPlanRequests({ ...parts, moving }) });
  };
  const row = async (): Promise<Instance> => (await store.fleet.readInstance(fleet.full.id, never))!;

  /** Everything is moved or has one live move, and all of it is recorded. */
  async function expectCarriedOut(): Promise<void> {
    const { name, state, stateSince } = await row();
    expect(state).toBe("DRAINING");
    const moves = await store.moves.list({}, 100, never);
    expect(moves.map(({ unitId }) => unitId).sort()).toEqual([...fleet.units.values()].slice(0, DEPLOYED).sort());
    const steps = await store.plans.listSteps({ drained: name, since: stateSince }, never);
    expect(steps.map(({ unit }) => unit)).toEqual([...fleet.units.values()].sort());
    const outcomes = Map.groupBy(steps, ({ outcome }) => outcome);
    expect([outcomes.get("asked")?.length, outcomes.get("moved")?.length, outcomes.get("dropped")]).toEqual([
      DEPLOYED,
      18 - DEPLOYED,
      undefined,
    ]);
    expect((await store.fleet.countUnits(never)).get(fleet.full.id)).toBe(DEPLOYED);
  }

  it("is carried out once, whoever asks, and asking again changes nothing", async () => {
    for (let count = 0; count < 3; count += 1) await requests().begin(await row(), { actor: "otto", reason: "test" }, never);
    await expectCarriedOut();
    expect(await store.plans.list({}, 100, never)).toHaveLength(1);
  });

  it("hands over to instances that run a release and to no others, and the instance stays as it is", async () => {
    const { roomy } = fleet;
    const { id, revision, state, reason, attempt } = roomy;
    const release = "3.5.99";
    await requests().handOver(await row(), release, "rollout 1", never);
    expect(await store.moves.list({}, 100, never)).toEqual([]);
    expect((await store.fleet.countUnits(never)).get(fleet.full.id)).toBe(18);
    await store.fleet.changeInstance(
      { id, revision, state, reason, cause: undefined, attempt, version: release, desiredVersion: release, decision: undefined },
      never,
    );
    for (let count = 0; count < 2; count += 1) await requests().handOver(await row(), release, "rollout 1", never);
    const moves = await store.moves.list({}, 100, never);
    expect(moves.map(({ to, kind }) => [to, kind])).toEqual(Array(DEPLOYED).fill([id, "drain"]));
    expect((await store.fleet.countUnits(never)).get(fleet.full.id)).toBe(DEPLOYED);
    expect((await row()).state).toBe("ACTIVE");
  });

  it.each(FAULT_MODES)("has the same outcome if any call %s and somebody asks again", async (mode) => {
    const broke = new Set<string>();
    for (let index = 0; ; index += 1) {
      await begin();
      const points = createFaultPoints(CALLS);
      const first = requests(points);
      points.arm(index, mode);
      await first.begin(await row(), { actor: "otto", reason: "test" }, never).catch(() => undefined);
      const name = points.broke();
      if ((await row()).state === "DRAINING") await requests().carryOn(await row(), "scheduler", never);
      else await requests().begin(await row(), { actor: "otto", reason: "test" }, never);
      await expectCarriedOut().catch((error: unknown) => {
        throw new Error(`call ${index}, ${name}`, { cause: error });
      });
      if (name === undefined) break;
      broke.add(name);
    }
    expect([...broke].sort()).toEqual([...CALLS].sort());
  });
});
