import { peakResidentBytes } from "../../hack/dev-cluster/processes/proc.ts";
import { inFlight } from "../load.ts";
import { changeStatus } from "../measures/status.ts";
import { median, percentile } from "../statistics.ts";
import { readCost, total } from "../world/argosy-cost.ts";
import { AT_ONCE, type Deployment, deploymentKey, isGone, isReported } from "../world/users.ts";
import { createWhile, describeSlowest, type Phase, untilApplied } from "./creations.ts";
import { LARGEST_MIB, MIB } from "./idleness.ts";
import { someOf } from "./latencies.ts";
import { atMost, lower, type Plain, type ScaleRun } from "./run.ts";

/** What is changed, created and removed while a process is away: over all instances. */
const AWAY = { changed: 100, created: 10, removed: 10 } as const;
/** How long everything may take to be right after a process was killed, in s. */
const RIGHT_WITHIN_S = 60;
/** Cluster whose lists belong to instances; those of the others are of users' resources. */
const ENGINE_CLUSTER = "local";
/** Creations on a quiet day, before a rolling restart. */
const QUIET_CREATIONS = 60;
/** How many times its value on a quiet day the p99 of creations may be during a rolling restart. */
const OF_QUIET = 3;

/**
 * Kills the last process, changes things over all instances, and waits until each change has reached its user: alone after it was started again, else by
 * the others. Only a watch shows those changes, so everything is watched again by then. With others, what they listed anew meanwhile is held against
 * what the killed one had listed in its life: they may list what they gain of it, and nothing that they had.
 */
export async function killOne(run: ScaleRun): Promise<readonly Plain[]> {
  const { world, replicas, standing, progress, signal } = run;
  const { fleet, users } = world;
  const index = replicas - 1;
  const others = { ...fleet, processes: fleet.processes.slice(0, index) };
  const own = await readCost({ ...fleet, processes: fleet.processes.slice(index) });
  const namespaces = someOf(standing, AWAY.created).map(({ namespace }) => namespace);
  const removed = someOf(standing, AWAY.removed).map(({ namespace }) => users.next(namespace));
  await users.settle(removed);
  const before = await readCost(others);
  const killed = fleet.processes[index];
  const startedAt = performance.now();
  killed?.kill("SIGKILL");
  await killed?.exited;
  const created = namespaces.map((namespace) => users.next(namespace));
  const right = allRight(run, { created, removed });
  right.catch(() => {});
  if (replicas === 1) await fleet.restart(index, signal);
  const parts = await right;
  const seconds = (performance.now() - startedAt) / 1_000;
  progress.say(`    ${parts.map(({ what, at }) => `${what} after ${((at - startedAt) / 1_000).toFixed(1)} s`).join(", ")}`);
  const after = await readCost(others);
  const heldBy = replicas === 1 ? "kill -9, started again" : "kill -9 of one";
  const figures = [lower(`${heldBy}: everything watched and right after`, "s", seconds, atMost(RIGHT_WITHIN_S))];
  if (replicas > 1) {
    const listed = (cluster: string) => (after.lists.get(cluster) ?? 0) - (before.lists.get(cluster) ?? 0);
    const ofUsers = total(after.lists) - total(before.lists) - listed(ENGINE_CLUSTER);
    figures.push(
      lower(`${heldBy}: lists of users' resources by the others`, "", ofUsers, atMost(0)),
      lower(`${heldBy}: lists of instances' objects by the others`, "", listed(ENGINE_CLUSTER), {
        limit: { what: "by the killed one in its life", value: own.lists.get(ENGINE_CLUSTER) ?? 0 },
        goal: { of: "ratio", sense: "at most", bound: 1 },
      }),
    );
    await fleet.restart(index, signal);
  }
  await users.clear(created);
  const memory = fleet.processes.map(({ pid }) => (peakResidentBytes(pid) ?? 0) / MIB);
  return [...figures, lower(`${heldBy}: most memory of a process`, "MiB", Math.max(...memory), atMost(LARGEST_MIB))];
}

interface Changes {
  readonly created: readonly Deployment[];
  readonly removed: readonly Deployment[];
}

/** Something that is right, and when (`performance.now()`) the last of it was. */
interface Right {
  readonly what: string;
  readonly at: number;
}

/** Makes the changes, and resolves when each has come about. */
async function allRight(run: ScaleRun, { created, removed }: Changes): Promise<readonly Right[]> {
  const { users } = run.world;
  const last = async (what: string, all: Promise<unknown>): Promise<Right> => ({ what, at: await all.then(() => performance.now()) });
  return Promise.all([
    last(
      "statuses shown",
      inFlight(someOf(run.standing, AWAY.changed), AT_ONCE, (deployment) => changeStatus(run, deployment)),
    ),
    last(
      "removed ones gone",
      inFlight(removed, AT_ONCE, async (deployment) => {
        await users.remove(deployment);
        await users.deployments.until(deploymentKey(deployment), isGone);
        await users.applications.until(deployment.path, isGone);
      }),
    ),
    last(
      "created ones reported",
      inFlight(created, AT_ONCE, async (deployment) => {
        await users.create(deployment);
        await users.deployments.until(deploymentKey(deployment), isReported);
      }),
    ),
  ]);
}

/**
 * Replaces each process by a new one while users create, two a second, after a quiet time in which they do the same. As the chart's rolling update does it: a
 * further process is ready before the first one leaves, and leaves at the end.
 */
export async function rollOver(run: ScaleRun): Promise<readonly Plain[]> {
  const { world, progress } = run;
  const quiet = await createWhile(run, (started) => started < QUIET_CREATIONS);
  const phases: Phase[] = [];
  const startedAt = performance.now();
  let endedAt: number | undefined;
  const rolling = replaceAll(run, phases).finally(() => {
    endedAt = performance.now();
  });
  const [during] = await Promise.all([createWhile(run, () => endedAt === undefined), rolling]);
  const seconds = ((endedAt ?? Number.NaN) - startedAt) / 1_000;
  progress.say("    the slowest creations:");
  for (const line of await describeSlowest(run, during, phases)) progress.say(`      ${line}`);
  await world.users.clear([...quiet, ...during].map(({ deployment }) => deployment));
  const [onQuietDay, meanwhile] = [untilApplied(quiet), untilApplied(during)];
  const samples = meanwhile.length;
  return [
    lower("rolling restart: all processes replaced after", "s", seconds),
    lower("rolling restart: created → Application, median", "ms", median(meanwhile), { samples }),
    lower("rolling restart: created → Application, p99", "ms", percentile(meanwhile, 0.99), {
      ...{ samples, limit: { what: `p99 of ${quiet.length} on a quiet day`, value: percentile(onQuietDay, 0.99) } },
      goal: { of: "ratio", sense: "at most", bound: OF_QUIET },
    }),
  ];
}

/** Replaces the processes, and notes when it began what. */
async function replaceAll({ world: { fleet }, replicas, signal }: ScaleRun, phases: Phase[]): Promise<void> {
  const during = async (what: string, act: () => Promise<unknown> | undefined): Promise<void> => {
    phases.push({ what, startedAt: performance.now() });
    await act();
  };
  await during("a further process starts", () => fleet.restart(replicas, signal));
  for (let index = 0; index < replicas; index += 1) {
    await during(`process ${index + 1} stops`, () => fleet.processes[index]?.stop());
    await during(`process ${index + 1} starts`, () => fleet.restart(index, signal));
  }
  await during("the further process stops", () => fleet.processes[replicas]?.stop());
  fleet.processes.length = replicas;
  phases.push({ what: "all are replaced", startedAt: performance.now() });
}
