import { beforeEach, describe, expect, it } from "vitest";
import { type Millis, millis } from "../domain/clock.ts";
import type { Instance } from "../domain/instance.ts";
import type { Partition } from "../domain/partition.ts";
import type { ProbedApplication, ProbedPod } from "../domain/probed.ts";
import { createSeededRng } from "../runtime/rng.ts";
import { createVirtualClock, type VirtualClock } from "../runtime/testing/virtual-clock.ts";
import { createMemoryStore, type MemoryStore } from "../store/adapters/memory/memory-store.ts";
import { createWorld } from "../store/testing/world.ts";
import { silentLog } from "../telemetry/log.ts";
import { noMetrics } from "../telemetry/metrics.ts";
import { ACTIVE_CANARIES, PASSIVE_CANARY } from "./canaries.ts";
import { createHealth, type Health } from "./controller.ts";
import type { ProbedNamespace } from "./port.ts";
import { aProbedPod } from "./testing/stage.ts";

const never = new AbortController().signal;
const EVERYTHING: Partition = { isMine: () => true, onChange: () => () => undefined };
const PERIOD_MS = 15_000;

/** One instance as its namespace and its processes show it: whoever is well answers at once. */
interface Stage {
  redisFails: boolean;
  asks: string[];
  deleted: string[];
  ensured: number;
  /** Since when its controller has stood still, and said nothing. */
  stoodSince: Millis | undefined;
  repoRefuses: boolean;
}

describe("the health of an instance", () => {
  let clock: VirtualClock;
  let store: MemoryStore;
  let instance: Instance;
  let stage: Stage;
  let health: Health;
  let looks: number;
  beforeEach(async () => {
    clock = createVirtualClock();
    store = createMemoryStore({ clock });
    instance = await createWorld(store).addInstance({ state: "ACTIVE" });
    [stage, looks] = [{ redisFails: false, asks: [], deleted: [], ensured: 0, stoodSince: undefined, repoRefuses: false }, 0];
    health = open();
  });

  const open = (partition = EVERYTHING): Health =>
    createHealth({
      ...{ store, partition, clock, rng: createSeededRng("health"), log: silentLog, metrics: noMetrics },
      ...{
        periodMs: PERIOD_MS,
        graceMs: 0,
        overloadMs: 300_000,
        restartApartMs: 300_000,
        canary: { repository: "https://g/c.git", revision: "HEAD", path: "." },
      },
      findProcesses: async () => ({
        controller: () => linesOf(controllerPage()),
        repoServers: new Map([["repo-1", () => (stage.repoRefuses ? refused() : linesOf(repoPage))]]),
      }),
      openNamespace: async () => namespace,
    });
  const controllerPage = () => {
    looks += 1;
    const redis = stage.redisFails
      ? `argocd_redis_request_total{failed="true"} ${looks}`
      : `argocd_redis_request_total{failed="false"} ${looks * 100}`;
    return ["process_start_time_seconds 5", `argocd_app_reconcile_count{dest_server="a"} ${looks * 50}`, redis];
  };
  const repoPage = ["process_start_time_seconds 5"];
  const one = (name: string, at: Millis): ProbedApplication => ({
    name,
    awaitsLook: false,
    isPaused: false,
    reconciledAt: at,
    hasError: false,
  });
  const pods: readonly ProbedPod[] = [
    aProbedPod({ component: "redis", name: "redis-1" }),
    aProbedPod({ component: "controller", name: "controller-0" }),
  ];
  const namespace: ProbedNamespace = {
    ensureCanaries: async () => {
      stage.ensured += 1;
    },
    askFor: async (name) => void stage.asks.push(name),
    listCanaries: async () => [...ACTIVE_CANARIES, PASSIVE_CANARY].map((name) => one(name, stage.stoodSince ?? clock.now())),
    sampleApplications: async () => [],
    listPods: async () => pods,
    deletePod: async (name) => void stage.deleted.push(name),
  };
  const look = async (times: number): Promise<void> => {
    for (let index = 0; index < times; index += 1) {
      await health.lookAtAll(never);
      await clock.advance(PERIOD_MS);
    }
  };
  const verdict = async () => (await store.health.listVerdicts(never))[0];
  const journal = async () => (await store.decisions.list({ kind: "health" }, 100, never)).map((each) => each.verdict);

  it("is recorded with each look, and asks for its canaries in turn", async () => {
    await look(4);
    expect(await verdict()).toMatchObject({ instanceId: instance.id, state: "healthy", cause: "none" });
    expect(stage.asks).toEqual([...ACTIVE_CANARIES, ...ACTIVE_CANARIES]);
    expect(stage.ensured).toBe(1);
    const { samples } = await store.health.readWindow(instance.id, millis(0), never);
    expect(samples).toHaveLength(4);
    expect(samples.at(-1)?.signals).toMatchObject({ controllerAnswers: 1, canaryS: 0, redisRestarts: 0, passiveAgeS: 0 });
    expect(await journal()).toEqual([]);
  });

  it("is told in the journal when it changes, and what is stuck is restarted once", async () => {
    await look(8);
    stage.redisFails = true;
    await look(12);
    expect(await verdict()).toMatchObject({ state: "stalled", cause: "redis", component: "redis" });
    expect(stage.deleted).toEqual(["redis-1"]);
    expect(await journal()).toEqual(["RESTART", "STALLED"]);
    stage.redisFails = false;
    await look(12);
    expect(await verdict()).toMatchObject({ state: "healthy", cause: "none" });
    expect(await journal()).toEqual(["HEALTHY", "RESTART", "STALLED"]);
  });

  it("is told of when its repo-server takes no connection, which is restarted", async () => {
    await look(8);
    stage.repoRefuses = true;
    await look(8);
    expect(await verdict()).toMatchObject({ state: "stalled", cause: "repo-server", component: "repo-server" });
    expect(await journal()).toEqual(["RESTART", "STALLED"]);
  });

  it("is told of by canaries when its controller stands still: both wait, whichever is reminded", async () => {
    await look(8);
    stage.stoodSince = millis(clock.now() - 2_000);
    await look(8);
    const { samples } = await store.health.readWindow(instance.id, millis(0), never);
    expect(samples.map(({ signals }) => signals.canaryS)).toEqual([...Array.from({ length: 8 }, () => 0), 0, 0, 15, 30, 45, 60, 75, 90]);
    expect(new Set(stage.asks.slice(-4))).toEqual(new Set(ACTIVE_CANARIES));
  });

  it("goes on from what was recorded when another process takes over", async () => {
    stage.redisFails = true;
    await look(12);
    const before = await verdict();
    health = open();
    await look(3);
    expect(await verdict()).toMatchObject({ state: "stalled", since: before?.since });
    expect(stage.deleted).toEqual(["redis-1"]);
  });

  it("is nobody's business for an instance that was stopped for good, or that is another process's", async () => {
    health = open({ ...EVERYTHING, isMine: () => false });
    await look(2);
    expect(await verdict()).toBeUndefined();
  });

  it("says that nothing is known when its cluster is away", async () => {
    health = createHealth({
      ...{ store, partition: EVERYTHING, clock, rng: createSeededRng("health"), log: silentLog, metrics: noMetrics },
      ...{ periodMs: PERIOD_MS, graceMs: 0, overloadMs: 300_000, restartApartMs: 300_000, canary: undefined },
      findProcesses: async () => undefined,
      openNamespace: async () => undefined,
    });
    await look(4);
    expect(await verdict()).toMatchObject({ state: "unknown", cause: "no-metrics" });
    expect(stage.deleted).toEqual([]);
  });
});

async function* linesOf(lines: readonly string[]): AsyncIterable<string> {
  yield* lines;
}

async function* refused(): AsyncIterable<string> {
  yield* await Promise.reject<readonly string[]>(new Error("connection refused"));
}
