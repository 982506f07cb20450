import type { KubeObject } from "../../src/runtime/kube/resource.ts";
import type { Figure } from "../figures.ts";
import { bareApplication } from "../limits/bare-client.ts";
import { type Bench, BOTH, type Measure } from "../measure.ts";
import { blocksOf, median, noiseOf, percentile } from "../statistics.ts";
import { APPLICATIONS, BARE_DEPLOYMENTS } from "../world/kinds.ts";
import { BARE_NAMESPACE } from "../world/open-world.ts";
import { type Deployment, deploymentKey, deploymentObject, isGone, isReported, isThere } from "../world/users.ts";

const SAMPLES = 40;
const BLOCKS = 5;
const FINALIZER = "resources-finalizer.argocd.argoproj.io";

/** One change after the other. The limit is the writes that the change needs, by one client, one round trip after the other. */
export const changes: Measure = {
  name: "P11",
  about: "update → Application changed; delete → gone; delete with finalizer → gone; limit: the raw round trips of each",
  engines: BOTH,
  async run(bench) {
    const samples = { update: [] as number[], remove: [] as number[], release: [] as number[] };
    const raw = { update: [] as number[], remove: [] as number[], release: [] as number[] };
    for (let index = 0; index < SAMPLES; index += 1) {
      const { update, remove } = await changeOne(bench);
      samples.update.push(update);
      samples.remove.push(remove);
      samples.release.push(await releaseOne(bench));
      const bare = await changeBare(bench);
      for (const kind of ["update", "remove", "release"] as const) raw[kind].push(bare[kind]);
    }
    const figure = (what: string, kind: keyof typeof raw, trips: number): Figure => ({
      ...{ measure: "P11", unit: "ms", better: "lower", what, samples: SAMPLES },
      ...{
        value: median(samples[kind]),
        p99: percentile(samples[kind], 0.99),
        noise: noiseOf(blocksOf(samples[kind], BLOCKS).map(median)),
      },
      limit: { what: `${trips} raw round trips`, value: median(raw[kind]), p99: percentile(raw[kind], 0.99) },
    });
    return [
      figure("update → Application changed", "update", 2),
      figure("delete → Application gone", "remove", 4),
      figure("delete with finalizer → resource gone", "release", 5),
    ];
  },
};

async function changeOne({ world: { users }, quiet }: Bench): Promise<{ readonly update: number; readonly remove: number }> {
  const deployment = users.next(quiet.one);
  await users.settle([deployment]);
  const updatedAt = performance.now();
  const changed = await users.change(deployment);
  const update = (await users.applications.until(changed.path, isThere)) - updatedAt;
  await users.deployments.until(deploymentKey(deployment), isReported);
  const removedAt = performance.now();
  await users.remove(changed);
  return { update, remove: (await users.applications.until(changed.path, isGone)) - removedAt };
}

async function releaseOne({ world: { users }, quiet }: Bench): Promise<number> {
  const held = users.next(quiet.one);
  await users.create(held, { isHeld: true });
  await users.deployments.until(deploymentKey(held), isReported);
  const removedAt = performance.now();
  await users.remove(held);
  return (await users.deployments.until(deploymentKey(held), isGone)) - removedAt;
}

/**
 * The writes of each change, on objects of our own. An update is two patches. A deletion deletes the resource, adds
 * the Application's finalizer, deletes the Application and removes the finalizer as the engine would. A finalizer of
 * the user's costs one more patch.
 */
async function changeBare({ world, quiet, signal }: Bench) {
  const { client, repoUrl, users } = world;
  const deployment: Deployment = users.next(quiet.other);
  const application = bareApplication(deployment, { repoUrl, namespace: BARE_NAMESPACE });
  const at = { namespace: BARE_NAMESPACE, name: application.metadata.name };
  await client.create(
    BARE_DEPLOYMENTS,
    deploymentObject(BARE_DEPLOYMENTS, { ...deployment, repoUrl, finalizers: ["bench.argosy.dev/held"] }),
    signal,
  );
  await client.create<KubeObject>(APPLICATIONS, application, signal);
  const path = { spec: { source: { path: `${deployment.path}/changed` } } };
  const update = await timed(async () => {
    await client.mergePatch(BARE_DEPLOYMENTS, deployment, path, signal);
    await client.mergePatch(APPLICATIONS, at, path, signal);
  });
  const remove = await timed(async () => {
    await client.delete(BARE_DEPLOYMENTS, deployment, {}, signal);
    await client.mergePatch(APPLICATIONS, at, { metadata: { finalizers: [FINALIZER] } }, signal);
    await client.delete(APPLICATIONS, at, {}, signal);
    await client.mergePatch(APPLICATIONS, at, { metadata: { finalizers: null } }, signal);
  });
  const last = await timed(() => client.mergePatch(BARE_DEPLOYMENTS, deployment, { metadata: { finalizers: null } }, signal));
  return { update, remove, release: remove + last };
}

async function timed(act: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await act();
  return performance.now() - startedAt;
}
