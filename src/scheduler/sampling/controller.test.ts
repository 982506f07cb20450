import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { UnavailableError } from "../../domain/errors.ts";
import type { Partition } from "../../domain/partition.ts";
import { createSeededRng } from "../../runtime/rng.ts";
import { createVirtualClock, type VirtualClock } from "../../runtime/testing/virtual-clock.ts";
import { createMemoryStore, type MemoryStore } from "../../store/adapters/memory/memory-store.ts";
import { CLASS } from "../../store/testing/builders.ts";
import { createWorld, type Seated, type World } from "../../store/testing/world.ts";
import { silentLog } from "../../telemetry/log.ts";
import { noMetrics } from "../../telemetry/metrics.ts";
import { createSampler, type Sampler } from "./controller.ts";

const never = new AbortController().signal;
const EVERYTHING: Partition = { isMine: () => true, onChange: () => () => undefined };

describe("sampling instances", () => {
  let clock: VirtualClock;
  let store: MemoryStore;
  let world: World;
  let seated: Seated;
  let sampler: Sampler;
  let page: () => readonly string[];
  const asked: string[] = [];
  beforeEach(async () => {
    clock = createVirtualClock();
    store = createMemoryStore({ clock });
    world = createWorld(store);
    seated = await world.seat();
    asked.splice(0);
    page = () => pageOf(0, 0);
  });
  afterEach(() => sampler.stop());

  const pageOf = (cpuSeconds: number | string, requests: number): readonly string[] => [
    "process_start_time_seconds 5",
    `process_cpu_seconds_total ${cpuSeconds}`,
    `argocd_app_k8s_request_total{project="of ${seated.unitId}"} ${requests}`,
    'argocd_cluster_api_resource_objects{server="https://a"} 700',
  ];
  const start = async (partition = EVERYTHING): Promise<void> => {
    sampler = createSampler({
      ...{ store, partition, clock, rng: createSeededRng("sampler"), log: silentLog, metrics: noMetrics },
      projectOf: (unit) => `of ${unit}`,
      environmentOf: () => undefined,
      periodMs: 120_000,
      async *readMetrics({ namespace }) {
        asked.push(namespace);
        yield* page();
      },
    });
    sampler.start(never);
    await sampler.idle();
  };
  const again = async (): Promise<void> => {
    await clock.advance(120_000);
    await vi.waitFor(() => sampler.idle());
  };
  const loads = () => store.loads.listInstanceLoads(CLASS, never);

  it("records counts with the first page and CPU with the second", async () => {
    page = () => pageOf(10, 100);
    await start();
    expect(await loads()).toMatchObject([{ instanceId: seated.instanceId, cachedObjects: 700, total: { applications: 1000 } }]);
    expect((await loads())[0]?.observation).toBeUndefined();
    page = () => pageOf(22, 200);
    await again();
    await vi.waitFor(async () => expect((await loads())[0]?.observation).toMatchObject({ applications: 1 }));
    const [unit] = await store.loads.countUnits(seated.instanceId, never);
    expect(unit?.known?.recent.milliCpu).toBeGreaterThan(70);
    const fleet = await store.placements.readFleet(CLASS, never);
    expect(fleet.instances[0]?.load).toMatchObject({ applications: 1000, gitPerMinute: 500 });
  });

  it.each([
    ["nothing", () => []],
    ["what is no page", () => ["<html>"]],
    [
      "an error",
      () => {
        throw new UnavailableError("reading", { code: "instance.no-metrics" });
      },
    ],
  ])("records nothing from %s, and goes on", async (_what, bad: () => readonly string[]) => {
    page = bad;
    await start();
    expect(await loads()).toEqual([]);
    page = () => pageOf(1, 1);
    await again();
    await vi.waitFor(async () => expect(await loads()).toHaveLength(1));
  });

  it("asks instances that hold units, of its own share, and no others", async () => {
    const mine = await world.addInstance({ state: "CORDONED" });
    await world.addInstance({ state: "WARMING" });
    await world.addInstance({ state: "RETIRED" });
    await start({ isMine: (key) => key === `load/${mine.id}`, onChange: () => () => undefined });
    expect(asked).toEqual([mine.namespace]);
  });
});
