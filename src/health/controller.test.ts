import { beforeEach, describe, expect, it } from "vitest";
import { type Millis, millis } from "../domain/clock.ts";
import type { InstanceId } from "../domain/ids.ts";
import type { Instance } from "../domain/instance.ts";
import { createVirtualClock, type VirtualClock } from "../runtime/testing/virtual-clock.ts";
import { createMemoryStore, type MemoryStore } from "../store/adapters/memory/memory-store.ts";
import { aDecision } from "../store/testing/builders.ts";
import { countingStore } from "../store/testing/counting-store.ts";
import { createWorld } from "../store/testing/world.ts";
import { silentLog } from "../telemetry/log.ts";
import { ACTIVE_CANARIES } from "./canaries.ts";
import type { Health } from "./controller.ts";
import type { EmptyInstance, QuarantineRequests } from "./port.ts";
import { createProbes } from "./record-verdict.ts";
import { createStage, EVERYTHING, openHealth, PERIOD_MS, RESTART_APART_MS, type Stage, sendAway } from "./testing/stage.ts";

const never = new AbortController().signal;

describe("the health of an instance", () => {
  let clock: VirtualClock;
  let store: MemoryStore;
  let instance: Instance;
  let stage: Stage;
  let health: Health;
  let open: (over?: Partial<Parameters<typeof openHealth>[0]>) => Health;
  beforeEach(async () => {
    clock = createVirtualClock();
    store = createMemoryStore({ clock });
    instance = await createWorld(store).addInstance({ state: "ACTIVE" });
    const created = createStage(clock);
    stage = created.stage;
    open = (over = {}) => openHealth({ store, clock, ...created.portsOf(), ...over });
    health = open();
  });

  const probe = async (times: number): Promise<void> => {
    for (let index = 0; index < times; index += 1) {
      await health.probeAll(never);
      await clock.advance(PERIOD_MS);
    }
  };
  const deleted = () => stage.deleted.map(({ name }) => name);
  const verdict = async () => (await store.health.listVerdicts(never))[0];
  const journal = async () => (await store.decisions.list({ kind: "health" }, 100, never)).map((each) => each.verdict);

  it("is recorded with each probe, and its canaries are refreshed in turn", async () => {
    await probe(4);
    expect(await verdict()).toMatchObject({ instanceId: instance.id, state: "healthy", cause: "none" });
    expect(stage.asks).toEqual([...ACTIVE_CANARIES, ...ACTIVE_CANARIES]);
    expect(stage.ensured).toBe(1);
    const { samples } = await store.health.readWindow(instance.id, millis(0), never);
    expect(samples).toHaveLength(4);
    expect(samples.at(-1)?.signals).toMatchObject({ controllerAnswers: 1, canaryS: 0, redisRestarts: 0 });
    expect(await journal()).toEqual([]);
  });

  it("is observed in every second period while it is at rest, and in each from the first observation on that shows something", async () => {
    const observed = async (periods: number): Promise<number> => {
      const before = stage.asks.length;
      await probe(periods);
      return stage.asks.length - before;
    };
    // Five minutes have to pass first.
    expect(await observed(21)).toBe(21);
    expect(await observed(8)).toBe(4);
    const { samples } = await store.health.readWindow(instance.id, millis(0), never);
    expect(samples.at(-1)?.signals).toMatchObject({
      controllerAnswers: 1,
      canaryS: 1,
      reconcilesPerS: 50 / 30,
      passiveAgeS: expect.any(Number),
    });
    stage.redisFails = true;
    await observed(2);
    expect(await observed(6)).toBe(6);
    expect(await verdict()).toMatchObject({ state: "stalled", cause: "redis" });
  });

  it("has its canaries and its pods listed about once a minute while each canary is compared soon and the same processes run", async () => {
    await probe(5);
    Object.assign(stage.lists, { canaries: 0, pods: 0 });
    await probe(8);
    expect(stage.lists).toEqual({ canaries: 2, pods: 2 });
    const { samples } = await store.health.readWindow(instance.id, millis(0), never);
    expect(samples.every(({ signals: { canaryS = 99, passiveAgeS = 99 } }) => canaryS <= 1 && passiveAgeS < 60)).toBe(true);
  });

  it("has its pods listed at once when another process takes the place of one", async () => {
    await probe(5);
    Object.assign(stage.lists, { canaries: 0, pods: 0 });
    stage.startedAt += 100;
    await probe(1);
    expect(stage.lists.pods).toBe(1);
  });

  it("has its canaries listed with each probe while they show an error", async () => {
    await probe(6);
    stage.canariesFail = true;
    Object.assign(stage.lists, { canaries: 0, pods: 0 });
    await probe(4);
    expect(stage.lists.canaries).toBe(4);
  });

  it("reads users' applications every minute or so while they are compared, and with each probe when they no longer are", async () => {
    let reads = 0;
    let reconciledAt: Millis | undefined;
    const sampleApplications = async () => {
      reads += 1;
      return [{ name: "app", awaitsObservation: false, isPaused: false, hasError: false, reconciledAt: reconciledAt ?? clock.now() }];
    };
    const wrap = <T extends object>(port: T): T => ("sampleApplications" in port ? { ...port, sampleApplications } : port);
    health = open(createStage(clock).portsOf(wrap));
    await probe(10);
    expect(reads).toBe(2);
    reconciledAt = clock.now();
    await probe(10);
    // The sample of before counts for a minute more at most.
    expect(reads).toBeGreaterThanOrEqual(7);
    const { samples } = await store.health.readWindow(instance.id, millis(0), never);
    expect(samples.at(-1)?.signals.newestAgeS).toBe((9 * PERIOD_MS) / 1_000);
  });

  it("is judged without canaries where these are switched off, and existing canaries are removed", async () => {
    health = open({ canary: undefined });
    await probe(4);
    expect(await verdict()).toMatchObject({ state: "healthy" });
    expect([stage.ensured, stage.removed, stage.asks]).toEqual([0, 1, []]);
  });

  it("is journaled when it changes, and a stuck component is restarted once", async () => {
    await probe(8);
    stage.redisFails = true;
    await probe(12);
    expect(await verdict()).toMatchObject({ state: "stalled", cause: "redis", component: "redis" });
    expect(deleted()).toEqual(["redis-1"]);
    expect(await journal()).toEqual(["RESTART", "STALLED"]);
    stage.redisFails = false;
    await probe(12);
    expect(await verdict()).toMatchObject({ state: "healthy", cause: "none" });
    expect(await journal()).toEqual(["HEALTHY", "RESTART", "STALLED"]);
  });

  it("leads to a fail-over where a component is stuck again after two restarts, and to no further remedy after that", async () => {
    const emptied: string[] = [];
    const empty = async (...[one, reason]: Parameters<EmptyInstance>): Promise<void> => {
      emptied.push(reason);
      await sendAway(store, clock)(one, reason, never);
    };
    await createWorld(store).addInstance({ state: "ACTIVE", name: "standard-2" });
    health = open({ empty, partition: { ...EVERYTHING, isMine: (key) => key === `health/${instance.id}` } });
    stage.redisFails = true;
    const apart = RESTART_APART_MS / PERIOD_MS;
    await probe(12 + apart);
    expect(emptied).toEqual([]);
    expect(deleted()).toEqual(["redis-1", "redis-1"]);
    await probe(apart);
    expect(emptied).toEqual(["empty it: its redis is stuck again after 2 restarts"]);
    expect(await journal()).toEqual(expect.arrayContaining(["DRAIN", "RESTART", "STALLED"]));
    await probe(3 * apart);
    expect(emptied).toHaveLength(1);
    expect(deleted()).toEqual(["redis-1", "redis-1"]);
  });

  it("is stalled when its repo-server accepts no connection, which is then restarted", async () => {
    await probe(8);
    [stage.repoRefuses, stage.canariesFail] = [true, true];
    await probe(12);
    expect(await verdict()).toMatchObject({ state: "stalled", cause: "repo-server", component: "repo-server" });
    expect(await journal()).toEqual(["RESTART", "STALLED"]);
  });

  it("is healthy when its repo-server gives no metrics but still renders", async () => {
    await probe(8);
    stage.repoRefuses = true;
    await probe(40);
    expect(await verdict()).toMatchObject({ state: "healthy", cause: "none" });
    expect(await journal()).toEqual([]);
  });

  it("shows in canaries when its controller hangs: both keep waiting, whichever is requested again", async () => {
    await probe(8);
    stage.stoodSince = millis(clock.now() - 2_000);
    await probe(8);
    const { samples } = await store.health.readWindow(instance.id, millis(0), never);
    const waits = samples.map(({ signals: { canaryS = Number.NaN } }) => canaryS);
    expect(waits.slice(0, 10).every((seconds) => seconds <= 1)).toBe(true);
    expect(waits.slice(10)).toEqual([15, 30, 45, 60, 75, 90]);
    expect(new Set(stage.asks.slice(-4))).toEqual(new Set(ACTIVE_CANARIES));
  });

  it("costs as many statements with twenty instances as with two while nothing changes, and every sample is recorded", async () => {
    /** Statements of ten minutes, after the first verdicts. */
    const sentWith = async (instances: number) => {
      const memory = createMemoryStore({ clock });
      const ids: InstanceId[] = [];
      for (let index = 0; index < instances; index += 1)
        ids.push((await createWorld(memory).addInstance({ state: "ACTIVE", name: `i-${index}` })).id);
      const { store: counted, counts } = countingStore(memory);
      health = open({ store: counted });
      await probe(1);
      counts.clear();
      // Half of them at rest, which is half as many samples.
      await probe(40);
      for (const id of ids) expect((await memory.health.readWindow(id, millis(0), never)).samples).toHaveLength(31);
      return counts;
    };
    const [few, many] = [await sentWith(2), await sentWith(20)];
    expect(many).toEqual(few);
    expect(Object.fromEntries(many)).toEqual({
      ...{ "fleet.readFleet": 40, "fleet.listInstances": 40, "health.record": 40 },
      // Once a minute.
      "health.listTroubles": 10,
    });
  });

  it("is recorded at once when it changes, and with the next common statement when it does not", async () => {
    const { store: counted, counts } = countingStore(store);
    const settings = { periodMs: PERIOD_MS, graceMs: 0, overloadMs: 300_000, canary: undefined };
    const probes = createProbes({ store: counted, clock, log: silentLog, ...settings, ...createStage(clock).portsOf() });
    const recordedAt = async () => (await verdict())?.at;
    await probes.probeInstance(instance, undefined, never);
    expect([counts.get("health.record"), await recordedAt()]).toEqual([1, clock.now()]);
    const first = await recordedAt();
    await clock.advance(PERIOD_MS);
    await probes.probeInstance(instance, undefined, never);
    expect([counts.get("health.record"), await recordedAt()]).toEqual([1, first]);
    await probes.record(never);
    expect([counts.get("health.record"), await recordedAt()]).toEqual([2, clock.now()]);
  });

  it("continues from the recorded verdict when another process takes over", async () => {
    stage.redisFails = true;
    await probe(12);
    const before = await verdict();
    health = open();
    await probe(3);
    expect(await verdict()).toMatchObject({ state: "stalled", since: before?.since });
    expect(deleted()).toEqual(["redis-1"]);
  });

  it("is not judged by a process whose share it is not in", async () => {
    health = open({ partition: { ...EVERYTHING, isMine: () => false } });
    await probe(2);
    expect(await verdict()).toBeUndefined();
  });

  it("is not judged once it is to be stopped for good: a verdict would be noise, and a restart would start it again", async () => {
    const stopped = await createWorld(store).addInstance({ state: "DRAINING", name: "standard-2", halt: "wanted" });
    await probe(2);
    const judged = (await store.health.listVerdicts(never)).map(({ instanceId }) => instanceId);
    expect(judged).toEqual([instance.id]);
    expect(judged).not.toContain(stopped.id);
  });

  it("has an open quarantine carried on by the process whose share the instance is in", async () => {
    const about = {
      source: instance.id,
      sourceName: instance.name,
      class: instance.class,
      workspaceId: "w",
      unitId: "u",
      namespace: "noisy",
    };
    const details = { text: "", isAdvice: false, quarantine: { ...about, target: "standard-2", pool: "standard", isNew: true } };
    await store.decisions.append(
      [aDecision({ at: clock.now(), subject: instance.id, kind: "health", verdict: "QUARANTINE", details })],
      never,
    );
    const quarantine = { most: 1, requests: { freezeAt: () => undefined } as unknown as QuarantineRequests };
    health = open({ quarantine, partition: { ...EVERYTHING, isMine: () => false } });
    await probe(1);
    expect(await journal()).toEqual(["QUARANTINE"]);
    health = open({ quarantine });
    await probe(2);
    const [end, ...earlier] = await store.decisions.list({ kind: "health" }, 10, never);
    expect(end?.details).toMatchObject({ outcome: "given-up", reason: "no instance of its own for noisy: noisy is gone" });
    expect(earlier).toHaveLength(1);
  });

  it("is unknown when its cluster cannot be reached", async () => {
    health = open({ canary: undefined, findProcesses: async () => undefined, openNamespace: async () => undefined });
    await probe(4);
    expect(await verdict()).toMatchObject({ state: "unknown", cause: "no-metrics" });
    expect(deleted()).toEqual([]);
  });
});
