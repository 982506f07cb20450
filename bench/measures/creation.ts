import { setTimeout as sleep } from "node:timers/promises";
import type { Figure } from "../figures.ts";
import { clearBare } from "../limits/bare-client.ts";
import { type Bench, BOTH, type Measure } from "../measure.ts";
import { median, noiseOf, percentile } from "../statistics.ts";
import { APPLICATIONS, BARE_DEPLOYMENTS, BARE_LABEL } from "../world/kinds.ts";
import { type Live, watchLive } from "../world/live.ts";
import { BARE_NAMESPACE, pathOf } from "../world/open-world.ts";
import { said, startProgram } from "../world/programs.ts";
import { type Deployment, deploymentKey, deploymentObject, isReported, isThere } from "../world/users.ts";

const BLOCKS = 8;
const IN_A_BLOCK = 20;
const COLD = 15;
const BACK_TO_BACK = 60;
const WARM_UP = 5;
/** How long a new namespace takes to get its account and CA, in ms. That is not ours to wait for. */
const NAMESPACE_MS = 1_000;

/**
 * One creation after the other, in blocks that alternate with blocks of the bare chain, so that both see the same
 * machine. Each creation begins once the user of the one before has its status. The bare chain ends with the
 * Application and has no status. Creations that do not wait for that are a figure of their own.
 */
export const creation: Measure = {
  name: "P1",
  about: "created → Application present, one after the other; limit: watch → transaction with NOTIFY → create, and nothing else",
  engines: BOTH,
  async run(bench) {
    const { world, quiet, signal } = bench;
    const chain = await startProgram(world.directory, "limits/bare-chain.ts", [world.kubeconfig, world.databaseUrl, BARE_NAMESPACE]);
    try {
      await said(chain, "ready", signal);
      const bare = await watchLive(
        { client: world.client, type: APPLICATIONS, labelSelector: BARE_LABEL, keyOf: pathOf, read: () => true },
        signal,
      );
      const made: Deployment[] = [];
      const ours = () =>
        inOrder(IN_A_BLOCK, async () => {
          const ms = await createOurs(bench, quiet.one, made);
          await reported(bench, made.slice(-1));
          return ms;
        });
      const theirs = () => inOrder(IN_A_BLOCK, () => createBare(bench, bare));
      await inOrder(WARM_UP, () => createOurs(bench, quiet.one, made));
      await inOrder(WARM_UP, () => createBare(bench, bare));
      const blocks: { readonly ours: readonly number[]; readonly theirs: readonly number[] }[] = [];
      for (let block = 0; block < BLOCKS; block += 1) {
        blocks.push({ ours: await ours(), theirs: await theirs() });
      }
      const backToBack = await inOrder(BACK_TO_BACK, () => createOurs(bench, quiet.one, made));
      await reported(bench, made);
      const cold = await inOrder(COLD, (index) => createCold(bench, index, made));
      await reported(bench, made);
      await world.users.clear(made);
      await clearBare([quiet.other, BARE_NAMESPACE], { client: world.client, signal });
      return figuresOf(blocks, { cold, backToBack });
    } finally {
      await chain.stop();
    }
  },
};

function figuresOf(
  blocks: readonly { readonly ours: readonly number[]; readonly theirs: readonly number[] }[],
  { cold, backToBack }: { readonly cold: readonly number[]; readonly backToBack: readonly number[] },
): readonly Figure[] {
  const [ours, theirs] = [blocks.flatMap((block) => block.ours), blocks.flatMap((block) => block.theirs)];
  const common = { measure: "P1", unit: "ms", better: "lower" } as const;
  const plain = (what: string, samples: readonly number[]): Figure => ({
    ...common,
    ...{ what, value: median(samples), p99: percentile(samples, 0.99), samples: samples.length, noise: noiseOf(samples) },
  });
  return [
    {
      ...{ ...common, what: "created → Application present", value: median(ours), p99: percentile(ours, 0.99), samples: ours.length },
      noise: noiseOf(blocks.map((block) => median(block.ours) / median(block.theirs))),
      limit: { what: "bare chain", value: median(theirs), p99: percentile(theirs, 0.99) },
      goal: { of: "ratio", sense: "at most", bound: 2.5 },
    },
    plain("the same, while statuses of earlier ones are still due", backToBack),
    plain("the same, first in a new workspace", cold),
  ];
}

async function createOurs({ world: { users } }: Bench, namespace: string, made: Deployment[]): Promise<number> {
  const deployment = users.next(namespace);
  made.push(deployment);
  const startedAt = performance.now();
  await users.create(deployment);
  return (await users.applications.until(deployment.path, isThere)) - startedAt;
}

async function createBare({ world, quiet, signal }: Bench, bare: Live<boolean>): Promise<number> {
  const deployment = world.users.next(quiet.other);
  const object = deploymentObject(BARE_DEPLOYMENTS, { ...deployment, repoUrl: world.repoUrl });
  const startedAt = performance.now();
  await world.client.create(BARE_DEPLOYMENTS, object, signal);
  return (await bare.until(deployment.path, isThere)) - startedAt;
}

async function createCold(bench: Bench, index: number, made: Deployment[]): Promise<number> {
  const namespace = `bench-cold-${bench.options.applications.indexOf(bench.standing.length)}-${index}`;
  await bench.world.users.addWorkspaces([namespace]);
  await sleep(NAMESPACE_MS, undefined, { signal: bench.signal });
  return createOurs(bench, namespace, made);
}

async function reported({ world: { users } }: Bench, made: readonly Deployment[]): Promise<void> {
  await Promise.all(made.map((deployment) => users.deployments.until(deploymentKey(deployment), isReported)));
}

async function inOrder(count: number, act: (index: number) => Promise<number>): Promise<readonly number[]> {
  const results: number[] = [];
  for (let index = 0; index < count; index += 1) results.push(await act(index));
  return results;
}
