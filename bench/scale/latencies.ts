import { setTimeout as sleep } from "node:timers/promises";
import type { KubeObject } from "../../src/runtime/kube/resource.ts";
import type { Figure } from "../figures.ts";
import { bareApplication, clearBare } from "../limits/bare-client.ts";
import { inFlight } from "../load.ts";
import { changeStatus } from "../measures/status.ts";
import { blocksOf, median, noiseOf, percentile } from "../statistics.ts";
import { APPLICATIONS, BARE_DEPLOYMENTS } from "../world/kinds.ts";
import { BARE_NAMESPACE } from "../world/open-world.ts";
import { AT_ONCE, type Deployment, deploymentKey, deploymentObject, isReported, isThere } from "../world/users.ts";
import { lower, type Plain, type ScaleRun } from "./run.ts";

/** First deployments of new workspaces. */
const COLD = 15;
/** Deployments of a burst, spread over workspaces that are there. */
const BURST = 200;
/** How long a new namespace takes to get its account and CA, in ms. That is not ours to wait for. */
const NAMESPACE_MS = 1_000;
const REPEATS = 4;

let round = 0;

/**
 * One change after the other, in turns with the writes that nobody can do without, by a client that does nothing else (raw): so what Argosy takes is
 * told from what the API server takes at this size, beside the engine's own writes.
 */
export async function measureLatencies(run: ScaleRun): Promise<readonly Plain[]> {
  const { world, options, standing, signal } = run;
  round += 1;
  const made: Deployment[] = [];
  const raw = rawWrites(run);
  const [warm, rawWarm]: [number[], number[]] = [[], []];
  for (const { namespace } of someOf(standing, options.creations)) {
    warm.push(await createOne(run, namespace, made));
    rawWarm.push(await raw.create());
  }
  const cold: number[] = [];
  for (let index = 0; index < COLD; index += 1) {
    const namespace = `scale-cold-${round}-${index}`;
    await world.users.addWorkspaces([namespace]);
    await sleep(NAMESPACE_MS, undefined, { signal });
    cold.push(await createOne(run, namespace, made));
  }
  const rate = await burst(run, made);
  const [statuses, rawPatches]: [number[], number[]] = [[], []];
  for (const deployment of someOf(standing, options.creations)) {
    const startedAt = performance.now();
    statuses.push((await changeStatus(run, deployment)).reportedAt - startedAt);
    rawPatches.push(await raw.patch());
  }
  await world.users.clear(made);
  await raw.clear();
  return [
    lower("P1: created → Application present", "ms", median(warm), spread(warm)),
    lower("P1: of which beyond the two creations themselves", "ms", Math.max(0, median(warm) - median(rawWarm))),
    lower("P1: the same, first in a new workspace", "ms", median(cold), spread(cold)),
    { what: "P1b: burst into workspaces that are there", unit: "/s", better: "higher", value: rate, noise: 0, samples: BURST },
    lower("P2: status changed → user's status", "ms", median(statuses), spread(statuses)),
    lower("P2: of which beyond the two patches themselves", "ms", Math.max(0, median(statuses) - 2 * median(rawPatches))),
  ];
}

/** Creates one, waits until its user has the status, and returns when its Application was present, in ms. */
async function createOne({ world: { users } }: ScaleRun, namespace: string, made: Deployment[]): Promise<number> {
  const deployment = users.next(namespace);
  made.push(deployment);
  const startedAt = performance.now();
  await users.create(deployment);
  const present = await users.applications.until(deployment.path, isThere);
  await users.deployments.until(deploymentKey(deployment), isReported);
  return present - startedAt;
}

/** Creates many at once and returns how many a second were reported to their users. */
async function burst({ world: { users }, standing }: ScaleRun, made: Deployment[]): Promise<number> {
  const wanted = someOf(standing, BURST).map(({ namespace }) => users.next(namespace));
  made.push(...wanted);
  const startedAt = performance.now();
  await inFlight(wanted, AT_ONCE, (deployment) => users.create(deployment));
  const reported = await Promise.all(wanted.map((deployment) => users.deployments.until(deploymentKey(deployment), isReported)));
  return (1_000 * wanted.length) / (Math.max(...reported) - startedAt);
}

/** The writes of a creation and of a status, on objects that nobody else reads. */
function rawWrites({ world: { client, users, repoUrl }, signal }: ScaleRun) {
  const namespace = BARE_NAMESPACE;
  let last: KubeObject["metadata"] | undefined;
  const timed = async (act: () => Promise<unknown>): Promise<number> => {
    const startedAt = performance.now();
    await act();
    return performance.now() - startedAt;
  };
  return {
    create: () =>
      timed(async () => {
        const deployment = users.next(namespace);
        await client.create(BARE_DEPLOYMENTS, deploymentObject(BARE_DEPLOYMENTS, { ...deployment, repoUrl }), signal);
        last = (await client.create(APPLICATIONS, bareApplication(deployment, { repoUrl, namespace }), signal)).metadata;
      }),
    patch: () =>
      timed(() =>
        client.mergePatch(
          APPLICATIONS,
          { namespace, name: last?.name ?? "" },
          { status: { reconciledAt: new Date().toISOString() } },
          signal,
        ),
      ),
    clear: () => clearBare([namespace], { client, signal }),
  };
}

/** So many of them, spread over all. */
export function someOf<T>(all: readonly T[], count: number): readonly T[] {
  const some = Math.min(count, all.length);
  return Array.from({ length: some }, (_, index) => all[Math.floor((index * all.length) / some)] as T);
}

function spread(samples: readonly number[]): Pick<Figure, "p99" | "noise" | "samples"> {
  return { p99: percentile(samples, 0.99), noise: noiseOf(blocksOf(samples, REPEATS).map(median)), samples: samples.length };
}
