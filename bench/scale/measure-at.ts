import { setTimeout as sleep } from "node:timers/promises";
import { residentBytes } from "../../hack/dev-cluster/processes/proc.ts";
import type { Progress } from "../../hack/up/progress.ts";
import type { Figure } from "../figures.ts";
import { inFlight } from "../load.ts";
import { changeStatus } from "../measures/status.ts";
import { blocksOf, median, noiseOf, percentile } from "../statistics.ts";
import { type Cost, countedBetween, readCost, total } from "../world/argosy-cost.ts";
import type { World } from "../world/open-world.ts";
import { AT_ONCE, type Deployment, deploymentKey, isGone, isReported, isThere } from "../world/users.ts";
import type { ScaleOptions } from "./options.ts";
import { PARTS, type Part, readParts } from "./parts.ts";

export interface ScaleRun {
  readonly world: World;
  readonly options: ScaleOptions;
  /** Argosy processes. */
  readonly replicas: number;
  /** Deployments that are there already. */
  readonly standing: readonly Deployment[];
  /** How many there are to be, spread over so many workspaces. */
  readonly applications: number;
  readonly workspaces: number;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

/** How many deployments are created at a time while filling up. */
const AT_A_TIME = 100;
/** Time for the last statuses to arrive before idleness is watched, in ms. */
const SETTLE_MS = 20_000;
const WINDOWS = 4;
/** How many statements and queues are listed by name. */
const SHOWN = 8;
/** First deployments of new workspaces. */
const COLD = 15;
/** How long a new namespace takes to get its account and CA, in ms. That is not ours to wait for. */
const NAMESPACE_MS = 1_000;
/** What is changed, created and removed while a process is away. */
const AWAY = { changed: 100, created: 10, removed: 10 } as const;
const MIB = 2 ** 20;

/** Fills the fleet up to a size and measures there. Resolves with the figures, and with the deployments that are there now. */
export async function measureAt(run: ScaleRun): Promise<{ readonly figures: readonly Figure[]; readonly standing: readonly Deployment[] }> {
  const { progress, applications, replicas } = run;
  const at = `at ${applications}, ${replicas} ${replicas === 1 ? "process" : "processes"}`;
  const filled = await progress.step(`filling up to ${applications} applications`, () => fillUp(run));
  const grown = { ...run, standing: filled.standing };
  const idle = await progress.step(`idle ${at}`, () => watchIdle(grown));
  const creations = await progress.step(`creations ${at}`, () => createInOrder(grown));
  const statuses = await progress.step(`statuses ${at}`, () => changeStatuses(grown));
  const away = await progress.step(`a process killed ${at}`, () => killOne(grown));
  const gone = new Set(away.removed);
  return {
    figures: [...filled.figures, ...idle, ...creations, ...statuses, ...away.figures].map((figure) => ({
      ...figure,
      measure: `scale ×${replicas}`,
    })),
    standing: [...filled.standing.filter((one) => !gone.has(one)), ...away.created],
  };
}

interface Reading {
  readonly cost: Cost;
  readonly parts: Readonly<Record<Part, number>>;
}

async function read({ world }: Pick<ScaleRun, "world">): Promise<Reading> {
  return { cost: await readCost(world.fleet), parts: readParts(world.directory) };
}

type Plain = Omit<Figure, "measure">;

const lower = (what: string, unit: string, value: number, more: Partial<Figure> = {}): Plain => ({
  ...{ what, unit, value, better: "lower", noise: 0 },
  ...more,
});

async function fillUp(run: ScaleRun): Promise<{ readonly figures: readonly Plain[]; readonly standing: readonly Deployment[] }> {
  const { world, standing, applications, workspaces, progress } = run;
  const names = Array.from({ length: workspaces }, (_, index) => `scale-${index}`);
  const known = new Set(standing.map(({ namespace }) => namespace));
  await world.users.addWorkspaces(names.filter((name) => !known.has(name)));
  const more = Array.from({ length: Math.max(0, applications - standing.length) }, (_, index) =>
    world.users.next(names[(standing.length + index) % names.length] ?? ""),
  );
  const before = await read(run);
  const rates: number[] = [];
  for (let done = 0; done < more.length; done += AT_A_TIME) {
    progress.detail(`${standing.length + done}, ${(rates.at(-1) ?? 0).toFixed(0)}/s`);
    const startedAt = performance.now();
    const some = more.slice(done, done + AT_A_TIME);
    await world.users.settle(some);
    rates.push((1_000 * some.length) / (performance.now() - startedAt));
  }
  const after = await read(run);
  const each = (seconds: number): number => (1_000 * seconds) / Math.max(1, more.length);
  return {
    standing: [...standing, ...more],
    figures: [
      // The last quarter: how fast it still is at this size.
      { what: "filling, last quarter", unit: "/s", better: "higher", ...spread(rates.slice(-Math.ceil(rates.length / 4))) },
      lower("filling: CPU of Argosy for each deployment", "ms", each(after.cost.cpuSeconds - before.cost.cpuSeconds)),
      ...PARTS.map((part) => lower(`filling: CPU of the ${part} for each deployment`, "ms", each(after.parts[part] - before.parts[part]))),
    ],
  };
}

function spread(samples: readonly number[]): Pick<Figure, "value" | "noise" | "samples"> {
  return { value: median(samples), noise: noiseOf(samples), samples: samples.length };
}

async function watchIdle(run: ScaleRun): Promise<readonly Plain[]> {
  const { options, progress, world, signal } = run;
  await sleep(SETTLE_MS, undefined, { signal });
  const readings = [await read(run)];
  for (let window = 1; window <= WINDOWS; window += 1) {
    progress.detail(`${window} of ${WINDOWS}`);
    await sleep((1_000 * options.idleSeconds) / WINDOWS, undefined, { signal });
    readings.push(await read(run));
  }
  const [first, last] = [readings[0] as Reading, readings.at(-1) as Reading];
  const seconds = (last.cost.at - first.cost.at) / 1_000;
  const rate = (of: (reading: Reading) => number): number => (of(last) - of(first)) / seconds;
  const noise = (of: (reading: Reading) => number): number =>
    noiseOf(readings.slice(1).map((reading, index) => of(reading) - of(readings[index] as Reading)));
  const listed = (counts: (reading: Reading) => ReadonlyMap<string, number>): string =>
    countedBetween(counts(first), counts(last))
      .slice(0, SHOWN)
      .map(([name, count]) => `${name} ${count}`)
      .join(", ");
  progress.say(`    idle statements: ${listed(({ cost }) => cost.statements)}`);
  progress.say(`    idle requests: ${listed(({ cost }) => cost.requests)}`);
  const memory = world.fleet.processes.map(({ pid }) => (residentBytes(pid) ?? 0) / MIB);
  const cores = ({ cost }: Reading): number => cost.cpuSeconds;
  const statements = ({ cost }: Reading): number => total(cost.statements);
  return [
    lower("idle: CPU of Argosy, all processes", "cores", rate(cores), { noise: noise(cores) }),
    lower("idle: statements", "/s", rate(statements), { noise: noise(statements) }),
    lower(
      "idle: requests to Kubernetes",
      "/s",
      rate(({ cost }) => total(cost.requests)),
    ),
    lower("idle: memory of the largest Argosy process", "MiB", Math.max(...memory)),
    ...PARTS.map((part) =>
      lower(
        `idle: CPU of the ${part}`,
        "cores",
        rate(({ parts }) => parts[part]),
      ),
    ),
  ];
}

async function createInOrder(run: ScaleRun): Promise<readonly Plain[]> {
  const { world, options, applications, signal } = run;
  const made: Deployment[] = [];
  const create = async (namespace: string): Promise<number> => {
    const deployment = world.users.next(namespace);
    made.push(deployment);
    const startedAt = performance.now();
    await world.users.create(deployment);
    const present = await world.users.applications.until(deployment.path, isThere);
    await world.users.deployments.until(deploymentKey(deployment), isReported);
    return present - startedAt;
  };
  const warm: number[] = [];
  for (let index = 0; index < options.creations; index += 1) warm.push(await create(run.standing[0]?.namespace ?? "scale-0"));
  const cold: number[] = [];
  for (let index = 0; index < COLD; index += 1) {
    const namespace = `scale-cold-${applications}-${index}`;
    await world.users.addWorkspaces([namespace]);
    await sleep(NAMESPACE_MS, undefined, { signal });
    cold.push(await create(namespace));
  }
  await world.users.clear(made);
  return [
    lower("created → Application present", "ms", median(warm), times(warm)),
    lower("the same, first in a new workspace", "ms", median(cold), times(cold)),
  ];
}

function times(samples: readonly number[]): Pick<Figure, "p99" | "noise" | "samples"> {
  return { p99: percentile(samples, 0.99), noise: noiseOf(blocksOf(samples, WINDOWS).map(median)), samples: samples.length };
}

/** Statuses that change one after the other, over all instances. */
async function changeStatuses(run: ScaleRun): Promise<readonly Plain[]> {
  const changed = someOf(run.standing, run.options.creations);
  const samples: number[] = [];
  for (const deployment of changed) {
    const startedAt = performance.now();
    samples.push((await changeStatus(run, deployment)).reportedAt - startedAt);
  }
  return [lower("status changed → user's status", "ms", median(samples), times(samples))];
}

/** So many of them, spread over all. */
function someOf<T>(all: readonly T[], count: number): readonly T[] {
  const some = Math.min(count, all.length);
  return Array.from({ length: some }, (_, index) => all[Math.floor((index * all.length) / some)] as T);
}

interface Away {
  readonly figures: readonly Plain[];
  readonly removed: readonly Deployment[];
  readonly created: readonly Deployment[];
}

/**
 * Kills the last process, changes a few things, and waits until all of them are right: alone after it was started again, else by the
 * others. What the others asked the API server for meanwhile is counted.
 */
async function killOne(run: ScaleRun): Promise<Away> {
  const { world, replicas, standing, progress, signal } = run;
  const { fleet, users } = world;
  const index = replicas - 1;
  const others = { ...fleet, processes: fleet.processes.slice(0, index) };
  const before = await readCost(others);
  const killed = fleet.processes[index];
  const startedAt = performance.now();
  killed?.kill("SIGKILL");
  await killed?.exited;
  const removed = someOf(standing.slice(1), AWAY.removed);
  const gone = new Set(removed);
  const changed = someOf(
    standing.filter((one) => !gone.has(one)),
    AWAY.changed,
  );
  const created = Array.from({ length: AWAY.created }, () => users.next(standing[0]?.namespace ?? "scale-0"));
  const right = Promise.all([
    inFlight(changed, AT_ONCE, (deployment) => changeStatus(run, deployment)),
    ...removed.map(async (deployment) => {
      await users.remove(deployment);
      await users.deployments.until(deploymentKey(deployment), isGone);
    }),
    ...created.map(async (deployment) => {
      await users.create(deployment);
      await users.deployments.until(deploymentKey(deployment), isReported);
    }),
  ]);
  right.catch(() => {});
  if (replicas === 1) await fleet.restart(index, signal);
  await right;
  const seconds = (performance.now() - startedAt) / 1_000;
  const after = await readCost(others);
  const asked = countedBetween(before.requests, after.requests).map(([name, count]) => `${name} ${count}`);
  if (replicas > 1) progress.say(`    requests of the others meanwhile: ${asked.join(", ")}`);
  const memory = fleet.processes.map(({ pid }) => (residentBytes(pid) ?? 0) / MIB);
  const heldBy = replicas === 1 ? "kill -9 and started again" : "kill -9 of one";
  if (replicas > 1) await fleet.restart(index, signal);
  return {
    removed,
    created,
    figures: [
      lower(`${heldBy}: everything right after`, "s", seconds, { goal: { of: "value", sense: "at most", bound: 60 } }),
      lower(`${heldBy}: memory of the largest process`, "MiB", Math.max(...memory), {
        goal: { of: "value", sense: "at most", bound: 1_024 },
      }),
    ],
  };
}
