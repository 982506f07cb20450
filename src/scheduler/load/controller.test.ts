import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { millis } from "../../domain/clock.ts";
import { UnavailableError } from "../../domain/errors.ts";
import type { EnvironmentId } from "../../domain/ids.ts";
import type { Partition } from "../../domain/partition.ts";
import type { ClassQuota } from "../../domain/quota.ts";
import { createSeededRng } from "../../runtime/rng.ts";
import { createVirtualClock, type VirtualClock } from "../../runtime/testing/virtual-clock.ts";
import { createMemoryStore, type MemoryStore } from "../../store/adapters/memory/memory-store.ts";
import { aClaim, aConnection, aFleet, aSpec, CLASS } from "../../store/testing/builders.ts";
import { createWorld, type Deployed, type World } from "../../store/testing/world.ts";
import { silentLog } from "../../telemetry/log.ts";
import { noMetrics } from "../../telemetry/metrics.ts";
import { createSampler, type Sampler } from "./controller.ts";

const never = new AbortController().signal;
const EVERYTHING: Partition = { isMine: () => true, onChange: () => () => undefined };

async function* linesOf(read: () => readonly string[]): AsyncIterable<string> {
  yield* read();
}

describe("sampling instances", () => {
  let clock: VirtualClock;
  let store: MemoryStore;
  let world: World;
  let deployed: Deployed;
  let sampler: Sampler;
  let page: () => readonly string[];
  let gitPage: () => readonly string[];
  const asked: string[] = [];
  beforeEach(async () => {
    clock = createVirtualClock();
    store = createMemoryStore({ clock });
    world = createWorld(store);
    deployed = await world.deploy();
    asked.splice(0);
    page = () => pageOf(0, 0);
    gitPage = () => [];
  });
  afterEach(() => sampler.stop());

  const pageOf = (cpuSeconds: number | string, requests: number): readonly string[] => [
    "process_start_time_seconds 5",
    `process_cpu_seconds_total ${cpuSeconds}`,
    `argocd_app_k8s_request_total{project="of ${deployed.unitId}"} ${requests}`,
    'argocd_cluster_api_resource_objects{server="https://a"} 700',
  ];
  const start = async (partition = EVERYTHING): Promise<void> => {
    sampler = createSampler({
      ...{ store, partition, clock, rng: createSeededRng("sampler"), log: silentLog, metrics: noMetrics },
      projectsOf: (unit) => [`of ${unit}`],
      environmentOf: (server) => (server.startsWith("https://env/") ? (server.slice("https://env/".length) as EnvironmentId) : undefined),
      periodMs: 120_000,
      canariesPerMinute: 4,
      async *readPages({ namespace }) {
        asked.push(namespace);
        yield { of: "controller", pod: "controller-0", lines: linesOf(page) };
        yield { of: "repo-server", pod: "repo-1", lines: linesOf(gitPage) };
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
    expect(await loads()).toMatchObject([{ instanceId: deployed.instanceId, cachedObjects: 700, total: { applications: 1000 } }]);
    expect((await loads())[0]?.observation).toBeUndefined();
    page = () => pageOf(22, 200);
    await again();
    await vi.waitFor(async () => expect((await loads())[0]?.observation).toMatchObject({ applications: 1 }));
    const [unit] = await store.loads.countUnits(deployed.instanceId, never);
    expect(unit?.known?.recent.milliCpu).toBeGreaterThan(70);
    const fleet = await store.placements.readFleet(CLASS, never);
    expect(fleet.instances[0]?.load).toMatchObject({ applications: 1000, gitPerMinute: 500 });
  });

  it("deals CPU to two units by their requests to Git, if repo-servers can be read", async () => {
    const other = { ...aSpec(), source: { ...aSpec().source, repoUrl: "https://git.example/other.git" } };
    const { id: otherId } = await world.unit((await world.record({ namespace: "other", spec: other })).applicationId);
    await world.place(otherId, deployed.instanceId);
    const shared = (cpuSeconds: number, comparisons: number) => [
      ...pageOf(cpuSeconds, 0),
      `argocd_app_reconcile_sum{dest_server="https://shared"} ${comparisons / 10}`,
      `argocd_app_reconcile_count{dest_server="https://shared"} ${comparisons}`,
    ];
    const git = (own: number, others: number) => [
      "process_start_time_seconds 6",
      `argocd_git_request_total{repo="${aSpec().source.repoUrl}",request_type="ls-remote"} ${own}`,
      `argocd_git_request_total{repo="${other.source.repoUrl}",request_type="ls-remote"} ${others}`,
    ];
    const share = async (): Promise<number> => {
      const units = await store.loads.countUnits(deployed.instanceId, never);
      const cpuOf = (id: string) => units.find(({ unitId }) => unitId === id)?.known?.recent.milliCpu ?? 0;
      return cpuOf(deployed.unitId) / (cpuOf(deployed.unitId) + cpuOf(otherId));
    };
    [page, gitPage] = [() => shared(10, 0), () => git(0, 0)];
    await start();
    [page, gitPage] = [() => shared(22, 100), () => git(80, 20)];
    await again();
    await vi.waitFor(async () => expect(await share()).toBeCloseTo(0.8));
    [page, gitPage] = [() => shared(58, 200), () => ["<html>"]];
    await again();
    await vi.waitFor(async () => expect(await share()).toBeCloseTo(0.5));
  });

  it.each([
    ["nothing", () => []],
    ["something that is not a page", () => ["<html>"]],
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

  describe("with an environment that answers with far too much", () => {
    const HEAVY = 30_000;
    const declare = (environmentObjects: number | undefined, classQuotas: readonly ClassQuota[] = []) => {
      const { workspaces } = aFleet();
      const quota = { ...workspaces.quota, ...(environmentObjects === undefined ? {} : { environmentObjects }) };
      return store.fleet.applyFleet(aFleet({ workspaces: { ...workspaces, quota, classQuotas } }), "ada", never);
    };
    let id: EnvironmentId;
    beforeEach(async () => {
      const claim = aClaim();
      id = (await store.environments.claim(claim, never)).id;
      await store.environments.connect(aConnection(id), never);
      page = () => [...pageOf(0, 0), `argocd_cluster_api_resource_objects{server="https://env/${id}"} ${HEAVY}`];
    });
    const state = async () => (await store.environments.readKnown(id, never))?.state;
    const entries = () => store.decisions.list({ verdict: "ENVIRONMENT_WITHHELD" }, 10, never);

    it("keeps it from its instance once that was so three times, and the journal says why", async () => {
      await declare(20_000);
      await start();
      await again();
      expect(await state()).toBe("connected");
      await again();
      await vi.waitFor(async () => expect(await state()).toBe("withdrawn"));
      expect((await store.environments.readKnown(id, never))?.withheld).toMatchObject({
        objects: HEAVY,
        apis: 0,
        budget: 20_000,
        times: 1,
      });
      await vi.waitFor(async () =>
        expect(await entries()).toMatchObject([{ subject: deployed.instanceId, kind: "health", rule: "ENTRY_BUDGET" }]),
      );
      expect((await entries())[0]?.details["reason"]).toContain(
        "environment prod of team is kept from it: an instance had to keep 30000 objects",
      );
      await again();
      expect(await entries()).toHaveLength(1);
    });

    it("counts it anew once it is connected again", async () => {
      await declare(20_000);
      await start();
      await again();
      await again();
      await vi.waitFor(async () => expect(await state()).toBe("withdrawn"));
      await store.environments.endWithholding((await store.environments.readKnown(id, never))?.uid ?? "", never);
      await store.environments.connect(aConnection(id), never);
      await again();
      await again();
      expect(await state()).toBe("connected");
      await again();
      await vi.waitFor(async () => expect(await state()).toBe("withdrawn"));
      expect((await store.environments.readKnown(id, never))?.withheld).toMatchObject({ times: 2 });
    });

    it("goes by what is declared for the class of the instance, where that is another number", async () => {
      await declare(20_000, [{ class: CLASS, environmentObjects: HEAVY }]);
      await start();
      for (let windows = 0; windows < 4; windows += 1) await again();
      expect(await state()).toBe("connected");
      await sampler.stop();
      await declare(HEAVY, [{ class: CLASS, environmentObjects: 20_000 }]);
      await start();
      for (let windows = 0; windows < 3; windows += 1) await again();
      await vi.waitFor(async () => expect(await state()).toBe("withdrawn"));
      expect((await store.environments.readKnown(id, never))?.withheld).toMatchObject({ budget: 20_000 });
    });

    it("leaves it alone while nothing is declared, as in a fleet of before, or it is within the budget", async () => {
      for (const budget of [undefined, HEAVY]) {
        await declare(budget);
        await start();
        for (let windows = 0; windows < 4; windows += 1) await again();
        expect(await state()).toBe("connected");
        await sampler.stop();
      }
    });
  });

  it("accounts for what an instance took, for its workspaces and for itself, and goes on where another member has stopped", async () => {
    const taking = (cpuSeconds: number, startedAt = 5) => [
      `process_start_time_seconds ${startedAt}`,
      `process_cpu_seconds_total ${cpuSeconds}`,
      "process_resident_memory_bytes 209715200",
      'argocd_cluster_api_resource_objects{server="https://shared"} 700',
    ];
    const listed = () => store.usages.list({ since: millis(0), until: millis(1e15) }, never);
    const sums = async () => {
      const rows = await listed();
      const of = (name: string) => rows.find((row) => row.of === name)?.usage;
      return { base: of("base"), workspace: of("workspace"), cpu: rows.reduce((sum, { usage }) => sum + usage.controllerCpuMs, 0) };
    };
    page = () => taking(10);
    await start();
    expect(await listed()).toEqual([]);
    const mark = () => store.usages.readMark(deployed.instanceId, never);
    const first = await mark();
    page = () => taking(22);
    await again();
    await vi.waitFor(async () => expect((await sums()).cpu).toBe(12_000));
    const { base, workspace } = await sums();
    const seconds = (((await mark())?.until ?? 0) - (first?.until ?? 0)) / 1_000;
    expect(seconds).toBeGreaterThan(100);
    expect((base?.memoryKibS ?? 0) + (workspace?.memoryKibS ?? 0)).toBe(Math.round(204_800 * seconds));
    for (const share of [base, workspace]) expect(share?.controllerCpuMs).toBeGreaterThan(1_000);
    expect((await listed()).map(({ of, namespace, instanceId }) => [of, namespace, instanceId])).toEqual([
      ["base", "", deployed.instanceId],
      ["workspace", "team", deployed.instanceId],
    ]);
    await sampler.stop();
    page = () => taking(30);
    await clock.advance(60_000);
    await start();
    expect((await sums()).cpu).toBe(20_000);
  });

  it("reads only instances of its own share that can hold units", async () => {
    const mine = await world.addInstance({ state: "CORDONED" });
    await world.addInstance({ state: "WARMING" });
    await world.addInstance({ state: "RETIRED" });
    await start({ isMine: (key) => key === `load/${mine.id}`, onChange: () => () => undefined });
    expect(asked).toEqual([mine.namespace]);
  });
});
