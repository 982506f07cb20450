import { setCpuShare } from "../hack/dev-cluster/process-node/control.ts";
import type { MoveView } from "../src/api/routes/moves.ts";
import type { KubeObject } from "../src/runtime/kube/resource.ts";
import { again } from "./again.ts";
import { restartFirst } from "./control-plane.ts";
import { openPools } from "./pools-world.ts";
import { type Stages, type StageWatch, watchStages } from "./push-stages.ts";
import { configMapFile, openWorkspace, TYPES, until, type Workspace, type World } from "./world.ts";

export const [BUSY, ROOMY] = ["hot-1", "hot-2"] as const;
const NOISY = "hot-noisy";
/**
 * What the noisy workspace deploys. Each application is compared by itself every five minutes. A few of many objects
 * each are as much work to compare as many with one object each, and fewer to move: so whatever all instances of a
 * small machine share is busy for a shorter time.
 */
const NOISY_APPLICATIONS = 20;
const OBJECTS_EACH = 16;
/**
 * The applications it pushes to have one object each: applying is the slowest part of Argo CD, and others on the
 * machine would wait for it, not for the instance.
 */
const PUSHED_APPLICATIONS = 4;
/** Concurrent comparisons. The rest waits, so that one instance cannot take the whole of a small machine. */
const ENGINE = { reconciliationSeconds: 300, reconciliationJitterSeconds: 10, statusProcessors: 2 };
/** CPU of the smaller instance's controller, in cores. */
const SMALL_SHARE = 0.015;
/** How often its objects are edited, some at once, and so compared again. Every other time a change is pushed. */
const NOISE_EVERY_MS = 1_000;
const EDITED_AT_ONCE = 2;
const PUSHED_EACH = 2;
const PROBE_EVERY_MS = 6_000;
/** How long a push may take before a story calls it lost. */
const LOST_MS = 10 * 60_000;
const CANARY = "hot-canary";

/** How long it took from a push until the change was in the namespace. */
export interface Probe {
  readonly workspace: string;
  readonly atMs: number;
  readonly tookMs: number;
  readonly stages: Stages;
}

/** Workspaces whose users push a small change now and then, and the instance of each at the beginning. */
export const WATCHED = [
  { name: "hot-near-1", instance: BUSY },
  { name: "hot-near-2", instance: BUSY },
  { name: "hot-apart-1", instance: ROOMY },
  /** One on an instance of another class, to which nothing is moved. */
  { name: "hot-away-1", instance: undefined },
] as const;

/** A small instance, a large one, a noisy workspace on the small one, and others that are observed. */
export interface OverloadWorld {
  settle(health: object): Promise<void>;
  /** Begins the noise. Returns its end. */
  noise(): { end(): Promise<void> };
  /** Pushes to each observed workspace in turn, until it is ended. */
  watch(probes: Probe[]): Promise<{ end(): Promise<void> }>;
  /** Live moves off the small instance, oldest first. */
  moves(): Promise<readonly MoveView[]>;
  /** Uids of everything that the noisy workspace deploys, by name. */
  uids(): Promise<ReadonlyMap<string, string | undefined>>;
  close(): Promise<void>;
}

export function openOverload(world: World): OverloadWorld {
  const { rest, kube, git, signal } = world;
  const pools = openPools(world);
  const edited = Array.from({ length: NOISY_APPLICATIONS }, (_, index) => `noise-${index}`);
  const pushed = Array.from({ length: PUSHED_APPLICATIONS }, (_, index) => `noise-pushed-${index}`);
  const applications = [...edited, ...pushed];
  const othersOf = (name: string): readonly string[] =>
    edited.includes(name) ? Array.from({ length: OBJECTS_EACH - 1 }, (_, index) => `${name}-${index + 1}`) : [];
  let noisy: Workspace;
  const watched = new Map<string, Workspace>();
  const deploy = async (namespace: string, names: readonly string[]): Promise<Workspace> => {
    const files = names.flatMap((name) => [
      [`${name}/config.yaml`, configMapFile(name, { push: "first" })],
      ...othersOf(name).map((other) => [`${name}/${other}.yaml`, configMapFile(other, { push: "never" })]),
    ]);
    await git.commit(namespace, Object.fromEntries(files));
    const workspace = await openWorkspace(world, namespace);
    for (const name of names) await workspace.apply(name, { repository: namespace, path: name });
    for (const name of names) await workspace.settled(name);
    return workspace;
  };
  return {
    async settle(health) {
      await git.commit(CANARY, { "canary.yaml": configMapFile("canary", {}) });
      for (const { name, instance } of WATCHED) if (instance === undefined) watched.set(name, await deploy(name, ["config"]));
      await pools.declare(pools.withPool({ name: "hot", instances: { min: 2, max: 2 }, engine: ENGINE }));
      for (const name of [BUSY, ROOMY]) await pools.instance(name, "active", (found) => found?.state === "ACTIVE");
      await pools.cordon(ROOMY, true);
      noisy = await deploy(NOISY, applications);
      for (const { name, instance } of WATCHED) {
        if (instance === undefined) continue;
        await pools.cordon(BUSY, instance !== BUSY);
        await pools.cordon(ROOMY, instance !== ROOMY);
        watched.set(name, await deploy(name, ["config"]));
      }
      for (const name of [BUSY, ROOMY]) await pools.cordon(name, false);
      const controller = { namespace: `argosy-${BUSY}`, name: "argocd-application-controller-0" };
      await setCpuShare(kube, controller, SMALL_SHARE, signal);
      await restartFirst(world, { roles: ["all"], health: { ...health, canary: { repository: git.url(CANARY), revision: "main" } } });
    },
    noise: () => makeNoise(world, noisy, { edited, pushed }),
    async watch(probes) {
      const stages = await watchStages(world, [...watched.keys()]);
      return watchAll(world, watched, stages, probes);
    },
    async moves() {
      const { items } = await rest.get<{ readonly items: readonly MoveView[] }>("/v1/moves");
      return items.filter(({ from }) => from === BUSY).toReversed();
    },
    async uids() {
      const { items } = await kube.listPage<KubeObject>(TYPES.configMap, { namespace: NOISY }, signal);
      const objects = applications.flatMap((name) => [name, ...othersOf(name)]);
      return new Map(objects.map((name) => [name, items.find(({ metadata }) => metadata.name === name)?.metadata.uid]));
    },
    async close() {
      for (const name of applications) await kube.delete(TYPES.deployment, { namespace: NOISY, name }, {}, signal);
      for (const { name } of [{ name: NOISY }, ...WATCHED]) await kube.delete(TYPES.namespace, { namespace: "", name }, {}, signal);
      const names: readonly string[] = [BUSY, ROOMY];
      await until("both empty", pools.instances, (rows) => rows.every(({ name, units }) => !names.includes(name) || units === 0), LOST_MS);
      await pools.restore();
      await restartFirst(world, {});
    },
  };
}

async function push({ git }: World, workspace: Workspace, [name, text]: readonly [name: string, text: string]): Promise<void> {
  await git.commit(workspace.namespace, { [`${name}/config.yaml`]: configMapFile(name, { push: text }) });
  await workspace.annotate(name, { "argosy.dev/refreshed-at": text });
}

interface NoiseOf {
  readonly edited: readonly string[];
  readonly pushed: readonly string[];
}

function makeNoise(world: World, noisy: Workspace, { edited, pushed }: NoiseOf): { end(): Promise<void> } {
  let round = 0;
  const { namespace } = noisy;
  const at = (names: readonly string[], index: number): string => names[index % names.length] ?? "";
  return again(NOISE_EVERY_MS, async () => {
    round += 1;
    const edit = { metadata: { annotations: { "of-the-user/edited": String(round) } } };
    const now = Array.from({ length: EDITED_AT_ONCE }, (_, index) => at(edited, EDITED_AT_ONCE * round + index));
    await Promise.all(now.map((name) => world.kube.mergePatch(TYPES.configMap, { namespace, name }, edit, world.signal)));
    if (round % PUSHED_EACH === 0) await push(world, noisy, [at(pushed, round / PUSHED_EACH), String(round)]);
  });
}

function watchAll(world: World, watched: ReadonlyMap<string, Workspace>, stages: StageWatch, probes: Probe[]): { end(): Promise<void> } {
  let [round, isOver] = [0, false];
  /** A first push may wait for a control plane that has just started, and says nothing about quiet times. */
  const warm = new Set<string>();
  const probe = async (name: string, workspace: Workspace): Promise<void> => {
    round += 1;
    const [text, atMs] = [`probe ${round}`, performance.now()];
    await push(world, workspace, ["config", text]);
    const isThere = (found: Awaited<ReturnType<Workspace["configMap"]>>): boolean => isOver || found?.data?.["push"] === text;
    await until(`${name} at ${text}`, () => workspace.configMap("config"), isThere, LOST_MS);
    if (!isOver && warm.has(name))
      probes.push({ workspace: name, atMs, tookMs: performance.now() - atMs, stages: stages.since(name, atMs) });
    warm.add(name);
  };
  const watching = [...watched].map(([name, workspace]) => again(PROBE_EVERY_MS, () => probe(name, workspace)));
  return {
    async end() {
      isOver = true;
      for (const each of watching) await each.end();
      await stages.close();
    },
  };
}
