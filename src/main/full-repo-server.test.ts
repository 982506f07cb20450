import { describe, expect, it } from "vitest";
import { type Clock, type Millis, millis } from "../domain/clock.ts";
import type { InstanceId, UnitId } from "../domain/ids.ts";
import type { Instance } from "../domain/instance.ts";
import { loadVector } from "../domain/load.ts";
import { PHASES } from "../domain/move-phases.ts";
import type { ProbedPod } from "../domain/probed.ts";
import { isInQuarantine } from "../health/quarantine/entries.ts";
import { aProbedPod, createStage, openHealth, PERIOD_MS } from "../health/testing/stage.ts";
import { planFleet } from "../instance-provisioner/fleet-plan.ts";
import { createCountingIds } from "../runtime/ids.ts";
import { createVirtualClock } from "../runtime/testing/virtual-clock.ts";
import { createMemoryStore, type MemoryStore } from "../store/adapters/memory/memory-store.ts";
import { aDecision, aFleet, anInstance, aPool, aSpec } from "../store/testing/builders.ts";
import { createWorld } from "../store/testing/world.ts";
import { silentLog } from "../telemetry/log.ts";
import { quarantining } from "./quarantining.ts";
import { createRequestPorts } from "./request-ports.ts";

const never = new AbortController().signal;
const MINUTE_MS = 60_000;
const STEP_MS = 1_500;
const MB_PER_S = 20;
/** What a pod may have on its disk, in MB. */
const DISK_MB = 20_480;
/** An evicted pod's successor runs after so long, in ms. */
const SUCCESSOR_MS = 15_000;
const capacity = loadVector(() => 1_000_000);

interface RepoServer {
  /** How often it was ended for what it had used up. */
  ends(): number;
  listPods(): readonly ProbedPod[];
  has(repository: string): boolean;
  /** Fails while no process runs. */
  page(): AsyncIterable<string>;
  /** Its pod is deleted, and another one begins at once. */
  replace(): void;
  /** Works for so long, up to now. */
  pass(repositories: readonly string[], ms: number): void;
}
type Model = (clock: Clock, sizeOf: (repository: string) => number) => RepoServer;

/** A repo-server that clones what is not on its disk, one repository after another, until its pod is evicted for what it holds. */
function onADisk(clock: Clock, sizeOf: (repository: string) => number): RepoServer {
  const pods: ProbedPod[] = [];
  let startedAt = clock.now();
  let checkouts = new Map<string, number>();
  let fetchSeconds = new Map<string, number>();
  const current = () => aProbedPod({ component: "repo-server", name: `repo-server-${pods.length}` });
  const evict = (at: Millis): void => {
    pods.push({ ...current(), evicted: { at, by: "limit" } });
    startedAt = millis(at + SUCCESSOR_MS);
    checkouts = new Map();
    fetchSeconds = new Map();
  };
  return {
    ends: () => pods.length,
    listPods: () => [...pods, current()],
    has: (repository: string) => checkouts.has(repository),
    replace: () => undefined,
    async *page(): AsyncIterable<string> {
      yield `process_start_time_seconds ${startedAt / 1_000}`;
      for (const [repository, seconds] of fetchSeconds) {
        const labels = `repo="${repository}",request_type="fetch"`;
        yield `argocd_git_request_duration_seconds_sum{${labels}} ${seconds}`;
        yield `argocd_git_request_duration_seconds_count{${labels}} 1`;
      }
    },
    pass(repositories, ms) {
      let left = ms / 1_000;
      if (clock.now() < startedAt) return;
      for (const repository of repositories.filter((each) => !checkouts.has(each))) {
        const seconds = sizeOf(repository) / MB_PER_S;
        if (seconds > left) return;
        left -= seconds;
        checkouts.set(repository, sizeOf(repository));
        fetchSeconds.set(repository, seconds);
        if ([...checkouts.values()].reduce((sum, each) => sum + each, 0) > DISK_MB) return evict(clock.now());
      }
    },
  };
}

/** Kubernetes starts a container again at once, then after ten seconds, and twice as late each time, up to five minutes. */
const backOffMs = (kills: number): number => (kills <= 1 ? 0 : Math.min(10_000 * 2 ** (kills - 2), 5 * MINUTE_MS));
/** A fetch of a file that does not fit takes so long until its process is killed, in ms. */
const KILLED_AFTER_MS = 3_000;
/** What a neighbour's fetch takes, in s. Each has one a second and a half. */
const QUICK_S = 0.2;

/** A repo-server that fetches what was pushed, all the time, and is killed with all that it is at by the fetch of a large repository. */
function inAMemory(clock: Clock, sizeOf: (repository: string) => number): RepoServer {
  let [startedAt, kills, pods] = [clock.now(), 0, 0];
  let killedAt: Millis | undefined;
  let ended = new Map<string, number>();
  let large: { readonly repository: string; readonly at: Millis } | undefined;
  const isUp = (): boolean => clock.now() >= startedAt;
  return {
    ends: () => kills,
    listPods: () => [
      aProbedPod({
        ...{ component: "repo-server", name: `repo-server-${pods}` },
        ...{ restarts: isUp() ? kills : kills - 1, killedAt, unreadySince: isUp() ? undefined : killedAt },
      }),
    ],
    has: isUp,
    replace() {
      pods += 1;
      startedAt = clock.now();
    },
    async *page(): AsyncIterable<string> {
      if (!isUp()) throw new Error("connection refused");
      yield `process_start_time_seconds ${startedAt / 1_000}`;
      for (const [repository, fetches] of ended) {
        const labels = `repo="${repository}",request_type="fetch"`;
        yield `argocd_git_request_total{${labels}} ${fetches}`;
        yield `argocd_git_request_duration_seconds_sum{${labels}} ${fetches * QUICK_S}`;
        yield `argocd_git_request_duration_seconds_count{${labels}} ${fetches}`;
      }
      if (large !== undefined) yield `argocd_git_request_total{repo="${large.repository}",request_type="fetch"} 1`;
    },
    pass(repositories) {
      if (!isUp()) return;
      for (const each of repositories.filter((one) => sizeOf(one) < 10)) ended.set(each, (ended.get(each) ?? 0) + 1);
      const repository = repositories.find((each) => sizeOf(each) >= 10);
      if (large === undefined) large = repository === undefined ? undefined : { repository, at: clock.now() };
      else if (clock.now() - large.at >= KILLED_AFTER_MS) {
        kills += 1;
        killedAt = clock.now();
        startedAt = millis(killedAt + backOffMs(kills));
        large = undefined;
        ended = new Map();
      }
    },
  };
}

interface Setting {
  /** `health.quarantines`. */
  readonly most: number;
  readonly largeMB?: number;
  readonly model?: Model;
  /** Deletes a pod of a repo-server. */
  readonly replace?: (repoServer: RepoServer) => void;
}

/** A shared instance with three workspaces, of which one reads a hundred large repositories, and the controller that observes it. */
async function begin({ most, largeMB = 250, model = onADisk, replace = (repoServer) => repoServer.replace() }: Setting) {
  const clock = createVirtualClock();
  const store = createMemoryStore({ clock });
  const world = createWorld(store);
  await store.fleet.applyFleet(aFleet({ pools: [aPool("standard", { capacity, instances: { min: 1, max: 3 } })] }), "ada", never);
  const source = await world.addInstance({ name: "standard-1", capacity });
  const sizeOf = (repository: string): number => (repository.includes("/large-") ? largeMB : 5);
  const place = async (namespace: string, repositories: readonly string[]): Promise<UnitId> => {
    const of = (repoUrl: string) => ({ namespace, spec: aSpec({ repoUrl }) });
    let unitId: UnitId | undefined;
    for (const repoUrl of repositories) unitId = (await world.unit((await world.record(of(repoUrl))).applicationId)).id;
    await world.place(unitId as UnitId, source.id);
    return unitId as UnitId;
  };
  await place("shop", ["https://git/shop", "https://git/shared"]);
  await place("blog", ["https://git/blog", "https://git/shared"]);
  const hundred = Array.from({ length: 100 }, (_, index) => `https://git/video/large-${index}`);
  const culprit = await place("video", [...hundred, "https://git/shared"]);

  const repoServers = new Map<InstanceId, RepoServer>();
  const repoServerOf = ({ id }: Pick<Instance, "id">) => {
    const made = repoServers.get(id) ?? model(clock, sizeOf);
    repoServers.set(id, made);
    return made;
  };
  const at = async (namespace: string) => {
    const found = (await store.fleet.listInstances(never)).find((one) => one.namespace === namespace);
    return repoServerOf(found ?? source);
  };
  const { moving } = createRequestPorts({ store, clock, ids: createCountingIds(), log: silentLog });
  const { portsOf } = createStage(clock);
  const ports = portsOf();
  const health = openHealth({
    ...{ store, clock, canary: undefined, quarantine: most === 0 ? undefined : { most, requests: quarantining({ moving, store }) } },
    async findProcesses(place, signal) {
      const [processes, repoServer] = [await ports.findProcesses(place, signal), await at(place.namespace)];
      return processes && { ...processes, repoServers: new Map([[repoServer.listPods().at(-1)?.name ?? "", () => repoServer.page()]]) };
    },
    async openNamespace(place, signal) {
      const [namespace, repoServer] = [await ports.openNamespace(place, signal), await at(place.namespace)];
      return namespace && { ...namespace, listPods: async () => repoServer.listPods(), deletePod: async () => replace(repoServer) };
    },
  });

  let [neighboursWaited, periods] = [0, 0];
  let isStarted = false;
  const work = async (ms: number): Promise<void> => {
    for (const instance of await store.fleet.listInstances(never)) {
      const units = await store.loads.countUnits(instance.id, never);
      const repositories = units.flatMap((unit) => Object.keys(unit.repositories));
      repoServerOf(instance).pass([...new Set(repositories)], ms);
    }
    periods += 1;
    if (!["https://git/shop", "https://git/blog"].every((each) => repoServerOf(source).has(each))) neighboursWaited += 1;
  };
  /** One period: repo-servers clone, health observes, everybody else does what was asked for. */
  const pass = async (): Promise<void> => {
    await work(PERIOD_MS);
    await health.probeAll(never);
    await carryOutElsewhere(store);
    await clock.advance(PERIOD_MS);
  };
  return {
    ...{ store, source, culprit, clock },
    passMinutes: async (minutes: number): Promise<void> => {
      for (let ms = 0; ms < minutes * MINUTE_MS; ms += PERIOD_MS) await pass();
    },
    pass,
    /** So many minutes, in small steps, with a health role that keeps its own times. Returns when it is `over`, if that is sooner. */
    async runMinutes(minutes: number, isOver: () => Promise<boolean> = async () => false): Promise<void> {
      if (!isStarted) health.start(never);
      isStarted = true;
      for (let ms = 0; ms < minutes * MINUTE_MS && !(await isOver()); ms += STEP_MS) {
        await work(STEP_MS);
        if (ms % (2 * PERIOD_MS) === 0) await carryOutElsewhere(store);
        await clock.advance(STEP_MS);
      }
    },
    isWell: (instance: Pick<Instance, "id">) => repoServerOf(instance).listPods().at(-1)?.unreadySince === undefined,
    endsOf: (instance: Pick<Instance, "id">) => repoServerOf(instance).ends(),
    /** The share of the periods in which neighbours had no checkout to be rendered from. */
    waited: () => neighboursWaited / periods,
    async holder() {
      const owner = (await store.placements.readUnit(culprit, never))?.unit.owner;
      return (await store.fleet.listInstances(never)).find(({ id }) => id === owner);
    },
    steps: async (step = "QUARANTINE") => {
      const entries = await store.decisions.list({ kind: "health", verdict: step }, 100, never);
      return entries.toReversed().map(({ details }) => String(details["reason"]));
    },
  };
}

/** Instances that are asked for come, and live moves go on by one phase. */
async function carryOutElsewhere(store: MemoryStore): Promise<void> {
  const { fleet, moves } = store;
  for (const { id, revision, state, attempt } of await fleet.listInstances(never))
    if (state === "REQUESTED")
      await fleet.changeInstance({ id, revision, state: "ACTIVE", reason: "", cause: undefined, attempt, decision: undefined }, never);
  const declared = await fleet.readFleet(never);
  if (declared === undefined) return;
  const planned = planFleet({ ...declared, instances: await fleet.listInstances(never), units: await fleet.countUnits(never) });
  for (const { instance: name } of planned.filter(({ change }) => change === "created"))
    await fleet.insertInstance(anInstance({ name, namespace: `argosy-${name}`, capacity, state: "REQUESTED" }), aDecision(), never);
  for (const { id, phase } of await moves.list({ isLive: true }, 10, never)) {
    if (phase === "WAITING") await moves.begin(id, never);
    else if (phase === "COMMIT") await moves.commit(id, aDecision(), never);
    else await moves.advance(id, { from: phase, to: PHASES[phase].next[0] ?? phase, message: "" }, never);
  }
}

describe("a workspace whose hundred repositories do not fit on the disk of a shared repo-server", () => {
  it("has it evicted for everybody, again and again, where nothing isolates it", async () => {
    const { passMinutes, pass, endsOf, source, waited, steps } = await begin({ most: 0 });
    while (endsOf(source) < 1) await pass();
    expect(await steps("RAISE")).toEqual(["raise the disk of its repo-server in fleet.yaml (pools[].resources.repoServer.disk)"]);
    await passMinutes(120);
    expect(endsOf(source)).toBeGreaterThanOrEqual(5);
    expect(waited()).toBeGreaterThan(0.01);
  });

  it("lives on an instance of its own within five minutes of the second eviction, and neighbours have peace", async () => {
    const { passMinutes, pass, endsOf, source, holder, store, steps, clock } = await begin({ most: 1 });
    while (endsOf(source) < 2) await pass();
    const since = clock.now();
    while ((await holder())?.id === source.id) await pass();
    expect(clock.now() - since).toBeLessThanOrEqual(5 * MINUTE_MS);
    await passMinutes(120);
    expect(endsOf(source)).toBe(2);
    const own = await holder();
    expect(own).toMatchObject({ name: "standard-2", state: "CORDONED" });
    expect(own && isInQuarantine(own)).toBe(true);
    expect(await store.fleet.countUnits(never)).toEqual(
      new Map([
        [source.id, 2],
        [own?.id, 1],
      ]),
    );
    expect(await steps()).toEqual([
      "give video an instance of its own: standard-2, which pool standard is asked for",
      "video has left standard-1 and lives on standard-2, alone",
    ]);
    // It goes on there, and has nobody to leave for.
    expect(own && endsOf(own)).toBeGreaterThanOrEqual(4);
  });

  it("stays where a person pinned it, and the journal says so", async () => {
    const { passMinutes, store, source, culprit, holder, steps, clock } = await begin({ most: 1 });
    const workspaceId = (await store.placements.readUnit(culprit, never))?.unit.workspaceId;
    if (workspaceId === undefined) throw new Error("there is no such workspace");
    const pin = { kind: "instance", instance: source.id, actor: "ada", reason: "", at: clock.now() } as const;
    await store.directives.direct({ workspaceId, change: { pin }, decision: aDecision() }, never);
    await passMinutes(60);
    expect((await holder())?.id).toBe(source.id);
    expect(await steps()).toEqual([expect.stringContaining("by itself that is not done: video is pinned by ada")]);
  });

  it("is left alone where it fits", async () => {
    const { passMinutes, endsOf, source, holder, steps } = await begin({ most: 1, largeMB: 150 });
    await passMinutes(120);
    expect(endsOf(source)).toBe(0);
    expect([(await holder())?.id, await steps()]).toEqual([source.id, []]);
  });
});

describe("a workspace with a repository that a shared repo-server has not the memory to fetch", () => {
  const model = inAMemory;

  it("has it killed for everybody, again and again, where nothing isolates it", async () => {
    const { runMinutes, endsOf, source, waited, steps } = await begin({ most: 0, model });
    await runMinutes(60);
    expect(endsOf(source)).toBeGreaterThanOrEqual(10);
    expect(waited()).toBeGreaterThan(0.5);
    expect((await steps("RAISE"))[0]).toMatch(/^raise the resources of its repo-server/);
    expect((await steps())[0]).toBe(
      "give video an instance of its own: `argosy pin`, because 100 % of what was under way when its repo-server ended was of its repositories",
    );
  });

  it("lives on an instance of its own within ten minutes, although no fetch of it ever ends, and neighbours have peace", async () => {
    const { runMinutes, endsOf, isWell, source, holder, clock, steps } = await begin({ most: 1, model });
    const since = clock.now();
    await runMinutes(60, async () => (await holder())?.id !== source.id);
    expect(clock.now() - since).toBeLessThanOrEqual(10 * MINUTE_MS);
    const ends = endsOf(source);
    const own = await holder();
    expect(isWell(source)).toBe(false);
    await runMinutes(1, async () => (await steps()).length === 2);
    expect(isWell(source)).toBe(true);
    await runMinutes(60);
    expect(endsOf(source)).toBe(ends);
    expect(await holder()).toMatchObject({ name: "standard-2", state: "CORDONED" });
    expect(own && endsOf(own)).toBeGreaterThanOrEqual(4);
    expect(await steps()).toEqual([
      "give video an instance of its own: standard-2, which pool standard is asked for",
      "video has left standard-1 and lives on standard-2, alone",
    ]);
  });

  it("also where the repo-server that it leaves cannot be replaced, which begins again by itself", async () => {
    const refuse = (): never => {
      throw new Error("the API server refuses it");
    };
    const { runMinutes, isWell, source, steps } = await begin({ most: 1, model, replace: refuse });
    await runMinutes(10, async () => (await steps()).length === 2);
    expect([isWell(source), (await steps()).at(-1)]).toEqual([false, "video has left standard-1 and lives on standard-2, alone"]);
    await runMinutes(5);
    expect(isWell(source)).toBe(true);
  });
});
