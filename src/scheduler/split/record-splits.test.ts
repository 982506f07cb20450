import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { millis } from "../../domain/clock.ts";
import type { Partition } from "../../domain/partition.ts";
import { systemClock } from "../../runtime/clock.ts";
import { createCountingIds } from "../../runtime/ids.ts";
import { createSeededRng } from "../../runtime/rng.ts";
import { createMemoryStore, type MemoryStore } from "../../store/adapters/memory/memory-store.ts";
import { anIntent, aSpec, CLASS, WIDE } from "../../store/testing/builders.ts";
import { createWorld, soon, type World } from "../../store/testing/world.ts";
import { silentLog } from "../../telemetry/log.ts";
import { noMetrics } from "../../telemetry/metrics.ts";
import { createScheduler, type Scheduler } from "../controller.ts";
import { reviewDecision } from "../review.ts";
import { createRingMemo } from "../ring-memo.ts";
import { splitLarge } from "./record-splits.ts";

const EVERYTHING: Partition = { isMine: () => true, onChange: () => () => undefined };
const never = new AbortController().signal;
const CLUSTERS = 40;
const EACH = 50;

describe("a workspace of 2,000 applications on 40 clusters", () => {
  let store: MemoryStore;
  let world: World;
  let scheduler: Scheduler | undefined;
  beforeEach(() => {
    store = createMemoryStore({ clock: systemClock });
    world = createWorld(store);
  });
  afterEach(() => scheduler?.stop());

  const intentFor = (cluster: number) => anIntent({ spec: { ...aSpec(), destination: { environment: `c${cluster}` } } });
  const record = () =>
    store.intents.recordDeployments(
      Array.from({ length: CLUSTERS * EACH }, (_, index) => intentFor(index % CLUSTERS)),
      soon(),
    );
  const addInstances = async (count: number): Promise<void> => {
    for (let index = 0; index < count; index += 1)
      await world.addInstance({ name: `standard-${index}`, capacity: { ...WIDE, applications: 1_000_000 } });
  };
  const split = async (): Promise<void> => {
    const facts = await store.plans.readFacts(CLASS, millis(0), soon());
    const moving = { askFor: () => Promise.reject(new Error("nothing moves")) };
    const deps = { store, moving, ids: createCountingIds(), log: silentLog, clock: systemClock, ringsOf: createRingMemo() };
    await splitLarge(deps, { facts, at: systemClock.now(), isAutomatic: false }, never);
  };
  const start = (): void => {
    const deps = { clock: systemClock, rng: createSeededRng("split"), log: silentLog, metrics: noMetrics };
    scheduler = createScheduler({
      store,
      moving: { askFor: () => Promise.reject(new Error("nothing moves")) },
      partition: EVERYTHING,
      ...deps,
    });
    scheduler.start(never);
  };
  const parts = async () => {
    const [row] = await store.splits.list(CLASS, WIDE, soon());
    return row?.units ?? [];
  };

  it("fits on no instance, and is served by four once it is split: evenly, each cluster by one, new applications with those of their cluster", async () => {
    await addInstances(4);
    await record();
    await split();
    start();
    await vi.waitFor(async () => expect((await parts()).filter(({ owner }) => owner !== undefined)).toHaveLength(4), { timeout: 30_000 });
    const held = await parts();
    expect(new Set(held.map(({ owner }) => owner)).size).toBe(4);
    const loads = held.map(({ load }) => load.applications);
    expect(Math.max(...loads) / (loads.reduce((a, b) => a + b, 0) / 4)).toBeLessThanOrEqual(1.1);
    const [row] = await store.splits.list(CLASS, WIDE, soon());
    const dealtTo = Map.groupBy(row?.applications ?? [], ({ environment }) => environment);
    expect(dealtTo.size).toBe(CLUSTERS);
    for (const applications of dealtTo.values()) expect(new Set(applications.map(({ part }) => part)).size).toBe(1);
    const [outcome] = await store.intents.recordDeployments([intentFor(7)], soon());
    if (outcome === undefined) throw new Error("there is no outcome");
    expect((await world.unit(outcome.applicationId)).bucket).toBe(dealtTo.get("c7")?.[0]?.part);
    const first = held[0]?.id ?? "";
    const journal = await store.decisions.list({ subject: first }, 10, soon());
    expect(journal.map(({ verdict }) => verdict).sort()).toEqual(["CHOSEN", "SPLIT"]);
    expect(journal.map(reviewDecision)).toEqual([true, true]);
  });

  it("is not changed by a second run, nor by a class without instances", async () => {
    await record();
    await split();
    expect(await parts()).toEqual([]);
    await addInstances(4);
    await split();
    const before = await parts();
    expect(before).toHaveLength(4);
    await split();
    expect(await parts()).toEqual(before);
  });
});
