import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { millis } from "../domain/clock.ts";
import type { InstanceId } from "../domain/ids.ts";
import type { InstanceObservation } from "../domain/rollout.ts";
import { createSeededRng } from "../runtime/rng.ts";
import { createVirtualClock, type VirtualClock } from "../runtime/testing/virtual-clock.ts";
import { createMemoryStore, type MemoryStore } from "../store/adapters/memory/memory-store.ts";
import { aDecision, aFleet, aRollout, aWaveInstance } from "../store/testing/builders.ts";
import { createWorld, soon } from "../store/testing/world.ts";
import { silentLog } from "../telemetry/log.ts";
import { noMetrics } from "../telemetry/metrics.ts";
import { createRollouts, type Rollouts } from "./controller.ts";
import { anObservation } from "./testing/facts.ts";

const never = new AbortController().signal;
const OBSERVE_EVERY_MS = 5_000;
const OLD = { version: "3.5.6", desiredVersion: "3.5.6" };

describe("the controller of rollouts", () => {
  let clock: VirtualClock;
  let store: MemoryStore;
  let rollouts: Rollouts;
  let isFrozen: boolean;
  let isMine: boolean;
  let watched: readonly string[];
  let over: Partial<InstanceObservation>;
  let ids: readonly InstanceId[];
  beforeEach(async () => {
    clock = createVirtualClock();
    store = createMemoryStore({ clock });
    [isFrozen, isMine, watched, over] = [false, true, [], {}];
    await store.fleet.applyFleet(aFleet(), "ada", soon());
    const { addInstance } = createWorld(store);
    ids = [(await addInstance(OLD)).id, (await addInstance(OLD)).id];
    const wave = { bakeMs: 60_000, isExtended: false, isApproved: false };
    const waves = ids.map((id, index) => ({ name: `wave ${index}`, instances: [aWaveInstance({ id, name: id })], ...wave }));
    const rollout = aRollout({ waves, isUnattended: true });
    await store.rollouts.create(rollout, aDecision({ subject: rollout.id, kind: "rollout" }), soon());
    rollouts = createRollouts({
      ...{ store, clock, log: silentLog, metrics: noMetrics, rng: createSeededRng("rollouts") },
      partition: { isMine: () => isMine, onChange: () => () => undefined },
      freezeAt: () => (isFrozen ? { reason: "weekend" } : undefined),
      emptying: { carryOn: async () => undefined, giveUp: async () => undefined },
      observations: {
        watchOnly(instances) {
          watched = instances.map(({ namespace }) => namespace);
        },
        async rest() {
          watched = [];
        },
        async observe({ namespace }) {
          const row = (await store.fleet.listInstances(soon())).find((one) => one.namespace === namespace);
          return anObservation(clock.now(), { runs: row?.desiredVersion, newestReconciledAt: millis(clock.now()), ...over });
        },
      },
    });
  });
  afterEach(() => rollouts.stop());
  const pass = async (observations: number): Promise<void> => {
    for (let index = 0; index < observations; index += 1) {
      await clock.advance(OBSERVE_EVERY_MS);
      await vi.waitFor(() => rollouts.idle());
    }
  };
  const state = async () => (await store.rollouts.list(1, soon()))[0];
  const wanted = async () => Promise.all(ids.map(async (id) => (await store.fleet.readInstance(id, soon()))?.desiredVersion));

  it("assigns the release to instances wave by wave, with journal entries", async () => {
    rollouts.start(never);
    await pass(2);
    expect(await wanted()).toEqual(["3.5.7", "3.5.6"]);
    await pass(60);
    expect(await state()).toMatchObject({ state: "DONE" });
    expect(await wanted()).toEqual(["3.5.7", "3.5.7"]);
    const entries = await store.decisions.list({ subject: ids[0] ?? "" }, 10, soon());
    expect(entries[0]).toMatchObject({ verdict: "UPGRADING", rule: "ROLLOUT", details: { from: "3.5.6", version: "3.5.7" } });
    expect(await store.rollouts.listFrozen(soon())).toEqual([]);
  });

  it("has the instances of the present wave watched, and none once it has ended or another process has the rollout", async () => {
    const namespaces = await Promise.all(ids.map(async (id) => (await store.fleet.readInstance(id, soon()))?.namespace));
    rollouts.start(never);
    await pass(2);
    expect(watched).toEqual([namespaces[0]]);
    isMine = false;
    await pass(2);
    expect(watched).toEqual([]);
    isMine = true;
    await pass(14);
    expect(watched).toEqual([namespaces[0]]);
    await vi.waitFor(async () => {
      await pass(1);
      expect(watched).toEqual([namespaces[1]]);
    });
    await pass(60);
    expect(await state()).toMatchObject({ state: "DONE" });
    expect(watched).toEqual([]);
  });

  it("ends its watches when it stops", async () => {
    rollouts.start(never);
    await pass(2);
    expect(watched).toHaveLength(1);
    await rollouts.stop();
    expect(watched).toEqual([]);
  });

  it("rolls a failing wave back, and freezes the release", async () => {
    over = { crashes: ["pod ends again and again"] };
    rollouts.start(never);
    await pass(4);
    expect(await state()).toMatchObject({ state: "FAILED", note: expect.stringContaining("pod ends again and again") });
    expect(await wanted()).toEqual(["3.5.6", "3.5.6"]);
    expect(await store.rollouts.listFrozen(soon())).toMatchObject([{ version: "3.5.7", reason: expect.stringContaining("pod ends") }]);
    const [last] = await store.decisions.list({ subject: ids[0] ?? "" }, 1, soon());
    expect(last).toMatchObject({ verdict: "ROLLING_BACK" });
  });

  it("waits while a freeze holds, and goes on when it has ended", async () => {
    isFrozen = true;
    rollouts.start(never);
    await pass(3);
    expect(await state()).toMatchObject({ note: "wave 0: a freeze holds: weekend" });
    expect(await wanted()).toEqual(["3.5.6", "3.5.6"]);
    isFrozen = false;
    await pass(2);
    expect(await wanted()).toEqual(["3.5.7", "3.5.6"]);
  });

  it("makes up for a step that broke off", async () => {
    const changing = vi.spyOn(store.fleet, "changeInstance").mockRejectedValueOnce(new Error("no answer"));
    rollouts.start(never);
    await pass(3);
    expect(changing).toHaveBeenCalled();
    expect(await wanted()).toEqual(["3.5.7", "3.5.6"]);
  });
});
