import { setTimeout as sleep } from "node:timers/promises";
import { peakResidentBytes, proportionalBytes, residentBytes } from "../../hack/dev-cluster/processes/proc.ts";
import { noiseOf } from "../statistics.ts";
import { type Cost, countedBetween, readCost, total } from "../world/argosy-cost.ts";
import { PARTS, type Part, readParts } from "./parts.ts";
import { atMost, lower, type Plain, type Reading, read, type ScaleRun } from "./run.ts";

/** Windows that idleness is watched in; they are the repeats. */
const WINDOWS = 4;
/** How long the world is watched without Argosy, as a share of `--idle`. */
const ALONE_SHARE = 0.5;
/** Argosy counts as at rest after a start once it has used less CPU than this for so long. Cores and ms. */
const AT_REST = { cores: 0.3, windowMs: 5_000 } as const;
const LEAST_WINDOWS = 4;
/** Fifteen minutes: one process judges 25,000 that stand in eight and a half. */
const MOST_WINDOWS = 180;
/** How many times each Application is watched: by the process of its instance, and by the watchdog. A few more may be made meanwhile. */
const WATCHED_TIMES = 2.1;
/** As the metrics of watches call them. */
const APPLICATIONS = "applications.argoproj.io";
/** The queue of statuses that are to be written on users' resources. After a fleet was filled fast, many are late. */
const STATUSES = "workspace-status";
/** The statement by which a process that has started judges what stands, 50 a second in the background. Others send it now and then, each process so often at most between two readings. */
const JUDGING = { statement: "read_views_by_uid", most: 3 } as const;
/** Applications of an instance that are no users'. */
const CANARIES = 3;
/** How many statements and requests are listed by name. */
const SHOWN = 10;
export const MIB = 2 ** 20;
export const LARGEST_MIB = 1_024;

/** CPU of each part in a world without Argosy, in cores. */
export async function watchWorldAlone({
  world,
  options,
  signal,
}: Pick<ScaleRun, "world" | "options" | "signal">): Promise<Readonly<Record<Part, number>>> {
  // What was being written when Argosy stopped is not the world's own.
  await sleep(AT_REST.windowMs, undefined, { signal });
  const [startedAt, before] = [performance.now(), readParts(world.directory)];
  await sleep(1_000 * options.idleSeconds * ALONE_SHARE, undefined, { signal });
  const [seconds, after] = [(performance.now() - startedAt) / 1_000, readParts(world.directory)];
  return Object.fromEntries(PARTS.map((part) => [part, (after[part] - before[part]) / seconds])) as Record<Part, number>;
}

/** Starts Argosy anew, and waits until it is at rest, each instance is watched by one process, what stands is judged, and no user waits for a status. */
export async function settle({ world, options, standing, replicas, progress, signal }: ScaleRun): Promise<readonly Plain[]> {
  const most = WATCHED_TIMES * (standing.length + CANARIES * options.instances);
  const startedAt = performance.now();
  await world.fleet.startAnew(replicas, signal);
  const ready = performance.now();
  let before = await readCost(world.fleet);
  for (let window = 1; window <= MOST_WINDOWS; window += 1) {
    await sleep(AT_REST.windowMs, undefined, { signal });
    const now = await readCost(world.fleet);
    const cores = coresBetween(before, now);
    const watched = now.watched.get(APPLICATIONS) ?? 0;
    progress.detail(`${cores.toFixed(2)} cores, ${watched} Applications watched`);
    const areWatched = watched >= standing.length && watched <= most;
    const judging = countedBetween(before.statements, now.statements).find(([name]) => name === JUDGING.statement)?.[1] ?? 0;
    const isQuiet = judging <= JUDGING.most * replicas && cores < AT_REST.cores && now.queued.get(STATUSES) === 0;
    if (window >= LEAST_WINDOWS && isQuiet && areWatched) break;
    before = now;
  }
  const peak = world.fleet.processes.map(({ pid }) => (peakResidentBytes(pid) ?? 0) / MIB);
  return [
    lower("started anew: all processes ready after", "s", (ready - startedAt) / 1_000),
    lower(
      "started anew: at rest, what stands judged, and each instance watched by one process, after",
      "s",
      (performance.now() - startedAt) / 1_000,
    ),
    lower("started anew: most memory of a process", "MiB", Math.max(...peak), atMost(LARGEST_MIB)),
  ];
}

function coresBetween(before: Cost, after: Cost): number {
  return (after.cpuSeconds - before.cpuSeconds) / ((after.at - before.at) / 1_000);
}

/** What Argosy takes while nobody changes anything, and what it adds to the parts around it. */
export async function watchIdle(run: ScaleRun): Promise<readonly Plain[]> {
  const { options, progress, world, alone, replicas, signal } = run;
  const readings = [await read(run)];
  for (let window = 1; window <= WINDOWS; window += 1) {
    progress.detail(`${window} of ${WINDOWS}`);
    await sleep((1_000 * options.idleSeconds) / WINDOWS, undefined, { signal });
    readings.push(await read(run));
  }
  const [first, last] = [readings[0] as Reading, readings.at(-1) as Reading];
  const seconds = (last.cost.at - first.cost.at) / 1_000;
  const rate = (of: (reading: Reading) => number): number => (of(last) - of(first)) / seconds;
  const noise = (of: (reading: Reading) => number) => ({
    noise: noiseOf(readings.slice(1).map((reading, index) => of(reading) - of(readings[index] as Reading))),
  });
  const listed = (counts: (reading: Reading) => ReadonlyMap<string, number>): string =>
    countedBetween(counts(first), counts(last))
      .slice(0, SHOWN)
      .map(([name, count]) => `${name} ${count}`)
      .join(", ");
  progress.say(`    idle statements: ${listed(({ cost }) => cost.statements)}`);
  progress.say(`    idle requests: ${listed(({ cost }) => cost.requests)}`);
  const cores = ({ cost }: Reading): number => cost.cpuSeconds;
  const statements = ({ cost }: Reading): number => total(cost.statements);
  const pids = world.fleet.processes.map(({ pid }) => pid);
  const largest = (bytes: (pid: number) => number | undefined): number => Math.max(...pids.map((pid) => (bytes(pid) ?? 0) / MIB));
  return [
    lower("idle: CPU of Argosy, all processes", "cores", rate(cores), { ...noise(cores), ...(replicas === 1 ? atMost(0.05) : {}) }),
    lower(
      "idle: CPU of Argosy's git",
      "cores",
      rate(({ cost }) => cost.gitSeconds),
    ),
    lower("idle: statements", "/s", rate(statements), { ...noise(statements), ...(replicas === 1 ? atMost(20) : {}) }),
    lower(
      "idle: requests to Kubernetes",
      "/s",
      rate(({ cost }) => total(cost.requests)),
    ),
    lower("idle: memory of the largest process", "MiB", largest(residentBytes), replicas === 1 ? atMost(LARGEST_MIB) : {}),
    lower("idle: the same, shared pages in equal parts", "MiB", largest(proportionalBytes)),
    lower("idle: heap of JavaScript in use, all processes", "MiB", last.cost.heapMiB),
    ...PARTS.flatMap((part) => [
      lower(`idle: CPU of the ${part} without Argosy`, "cores", alone[part]),
      lower(`idle: CPU of the ${part} that Argosy adds`, "cores", Math.max(0, rate(({ parts }) => parts[part]) - alone[part])),
    ]),
  ];
}
