import { describe, expect, it } from "vitest";
import { millis } from "../domain/clock.ts";
import type { InstanceId } from "../domain/ids.ts";
import type { InstanceObservation } from "../domain/rollout.ts";
import { createVirtualClock } from "../runtime/testing/virtual-clock.ts";
import { createMemoryStore } from "../store/adapters/memory/memory-store.ts";
import { aDecision, aFleet, aRollout, aWaveInstance } from "../store/testing/builders.ts";
import { createWorld } from "../store/testing/world.ts";
import { silentLog } from "../telemetry/log.ts";
import { createCarryOutRollout } from "./carry-out-rollout.ts";
import type { InstanceObservations } from "./port.ts";
import { anObservation, unwatched } from "./testing/facts.ts";

const never = new AbortController().signal;
const OBSERVE_EVERY_MS = 15_000;

type Behaves = (isAfresh: boolean) => Partial<InstanceObservation>;

/**
 * A rollout over one instance whose canaries wait for `canaryS` in the new release, as the health probes record it; `behaves`: how that release
 * does, by watches and as it is listed.
 */
async function begin(canaryS: number, behaves: Behaves = () => ({})) {
  const clock = createVirtualClock();
  const store = createMemoryStore({ clock });
  const release = (version: string) => ({ version, image: "argocd", redisImage: "redis", crds: "/crds" });
  const catalogue = ["3.5.5", "3.5.6", "3.5.7"].map(release);
  await store.fleet.applyFleet(aFleet({ versions: { ...aFleet().versions, catalogue } }), "ada", never);
  const { id } = await createWorld(store).addInstance({ version: "3.5.6", desiredVersion: "3.5.6" });
  const waves = [{ name: "all", instances: [aWaveInstance({ id, name: "one" })], bakeMs: 600_000, isExtended: false, isApproved: false }];
  const rollout = aRollout({ waves, isUnattended: true });
  await store.rollouts.create(rollout, aDecision({ subject: rollout.id, kind: "rollout" }), never);
  const read = async () => (await store.fleet.readInstance(id, never))?.desiredVersion;
  const afresh: boolean[] = [];
  const observations: InstanceObservations = {
    ...unwatched,
    // Its pods have the images of all releases.
    async observe(_instance, { releases, isAfresh = false }) {
      afresh.push(isAfresh);
      const runs = releases[0]?.version;
      const own = runs === "3.5.7" ? behaves(isAfresh) : {};
      return anObservation(clock.now(), { runs, newestReconciledAt: millis(clock.now()), ...own });
    },
  };
  const takeStep = createCarryOutRollout({
    store,
    observations,
    emptying: { carryOn: async () => undefined, giveUp: async () => undefined },
    freezeAt: () => undefined,
    clock,
    log: silentLog,
  });
  const pass = async (minutes: number): Promise<void> => {
    for (let count = 0; count < (minutes * 60_000) / OBSERVE_EVERY_MS; count += 1) {
      await clock.advance(OBSERVE_EVERY_MS);
      await recordHealth(id, (await read()) === "3.5.6" ? 0.2 : canaryS);
      await takeStep(never);
    }
  };
  const recordHealth = (instanceId: InstanceId, waited: number): Promise<void> => {
    const at = clock.now();
    const base = { text: "", evidence: [], component: undefined, baseline: undefined } as const;
    const verdict = { instanceId, at, since: at, state: "healthy", cause: "none", ...base } as const;
    return store.health.record([{ sample: { at, signals: { canaryS: waited } }, verdict, keepSince: millis(0) }], never);
  };
  return { pass, afresh, state: async () => (await store.rollouts.list(1, never))[0] };
}

describe("an observation of an upgraded instance", () => {
  it("takes the wait of canaries from its health, and rolls it back when that is too long", async () => {
    const { pass, state } = await begin(31);
    await pass(6);
    expect(await state()).toMatchObject({ state: "FAILED", note: expect.stringContaining("one: its canary waits for 31 s") });
  });

  it("takes the release that it is to have for the one that runs, where several have the same images", async () => {
    const { pass, state } = await begin(31);
    await pass(1);
    expect((await state())?.waves[0]?.instances[0]?.readyAt).toBeDefined();
    await pass(5);
    expect(await state()).toMatchObject({ state: "FAILED" });
  });

  it("lets it bake while canaries are compared in time", async () => {
    const { pass, state } = await begin(29);
    await pass(5);
    expect(await state()).toMatchObject({ state: "RUNNING" });
    await pass(25);
    expect(await state()).toMatchObject({ state: "DONE" });
  });
});

describe("a wave", () => {
  it("is not condemned by what a watch alone tells", async () => {
    const { pass, state } = await begin(0.2, (isAfresh) => (isAfresh ? {} : { pruned: 1 }));
    await pass(25);
    expect(await state()).toMatchObject({ state: "DONE" });
  });

  it("does not pass by what a watch alone tells", async () => {
    const { pass, state } = await begin(0.2, (isAfresh) => (isAfresh ? { pruned: 1 } : {}));
    await pass(25);
    expect(await state()).toMatchObject({ state: "FAILED", note: expect.stringContaining("deleted what Git still holds of 1 ") });
  });

  it("is listed anew only where something is decided", async () => {
    const { pass, state, afresh } = await begin(0.2);
    await pass(25);
    expect(await state()).toMatchObject({ state: "DONE" });
    // It baked twice as long, and was let through.
    expect(afresh.filter((each) => each)).toHaveLength(2);
  });
});
