import { buildSet } from "../../dev-cluster/build.ts";
import { type DevCluster, type DevClusterOptions, startDevCluster } from "../../dev-cluster/dev-cluster.ts";
import { argoCdSetName, rendererSets } from "../../dev-cluster/go-sets.ts";
import type { DevProcess } from "../../dev-cluster/processes/process.ts";
import { argoCdImage, redisImage, referenceOf } from "../../dev-cluster/real-node/images.ts";
import type { RealNodes } from "../../dev-cluster/real-node/real-cluster.ts";
import { stopLeftovers } from "../../dev-cluster/state-directory.ts";
import type { FleetImages } from "../../fleet/images.ts";
import type { Part } from "../keep-running.ts";
import type { ProvideContext, ProvidedCluster } from "./provided.ts";

/** The development cluster: real Kubernetes and Argo CD, built from their Go modules, as processes of this machine or as containers on it. */
export async function provideDevelopmentCluster(
  { realNode }: { readonly realNode: boolean },
  { state, progress, version }: ProvideContext,
  signal: AbortSignal,
): Promise<ProvidedCluster> {
  const onBuild = (step: { readonly set: string; readonly step: string; readonly seconds: number }): void =>
    progress.detail(`${step.step} of ${step.set}`);
  const build = (set: string) => progress.step(`building ${set}, unless built before`, () => buildSet(set, { progress: onBuild }, signal));
  const kubernetes = await build("kubernetes");
  const argoCd = await build(`argo-cd-${version}`);
  for (const set of ["tools", ...rendererSets(version), ...(realNode ? ["kubernetes-node", "coredns"] : [])]) await build(set);
  const dev = await progress.step("starting etcd, kube-apiserver, controllers, node", () =>
    startWhole(
      {
        ...{ stateDir: state.path("cluster"), progress: onBuild, say: progress.detail },
        clusters: [{ name: "main", realNodes: realNode ? 1 : 0 }],
      },
      signal,
    ),
  );
  const { main } = dev;
  const { realNodes } = main;
  let images: FleetImages | undefined;
  try {
    if (realNodes !== undefined)
      images = await progress.step("putting Argo CD and Redis into images", () => addImages(realNodes, version, signal));
  } catch (error) {
    await dev.stop();
    throw error;
  }
  return {
    cluster: { client: main.client, server: main.kubernetes.server, ca: main.kubernetes.ca },
    kubeconfigFile: main.adminKubeconfig,
    kubectl: kubernetes.program("kubectl"),
    crds: `${argoCd.directory}/crds`,
    gitHost: main.hostForPods,
    // Processes have addresses that only this machine reaches.
    ...(realNodes === undefined ? { reach: "address" as const } : {}),
    ...(images === undefined ? {} : { images }),
    config: {},
    parts: [...partsOf(main.kubernetes), ...(realNodes?.nodes ?? []).flatMap(partsOf)],
    stop: () => dev.stop(),
  };
}

async function addImages({ images, addImage }: RealNodes, version: string, signal: AbortSignal): Promise<FleetImages> {
  const release = { tag: `v${version}`, sets: [argoCdSetName(version), ...rendererSets(version)] };
  const [argoCd, redis] = [await argoCdImage(images, release, signal), await redisImage(images, signal)];
  for (const image of [argoCd, redis]) await addImage(image, signal);
  return { image: await referenceOf(argoCd, signal), redisImage: await referenceOf(redis, signal) };
}

/** Programs that belong together and are started in order, such as those of a node. */
interface Components<Name extends string> {
  readonly components: readonly Name[];
  process(component: Name): DevProcess | undefined;
  logFile(component: Name): string;
  start(signal: AbortSignal): Promise<void>;
}

/** A restart starts every component that does not run, in order, one restart at a time: so no component is started twice. */
function partsOf<Name extends string>(owner: Components<Name>): readonly Part[] {
  let last: Promise<unknown> = Promise.resolve();
  const restart = (signal: AbortSignal): Promise<void> => {
    const started = last.then(() => owner.start(signal));
    last = started.catch(() => undefined);
    return started;
  };
  return owner.components.flatMap((component) => ({
    name: component,
    logFile: owner.logFile(component),
    ended: () => owner.process(component)?.ended ?? Promise.resolve(UNSEEN),
    restart,
  }));
}

/** Exit code of a process whose end nobody saw. */
const UNSEEN = 255;

/** All components or none: a start that fails or is given up must not leave processes that nobody else knows of. */
async function startWhole(options: DevClusterOptions, signal: AbortSignal): Promise<DevCluster> {
  try {
    return await startDevCluster(options, signal);
  } catch (error) {
    await stopLeftovers(options.stateDir);
    throw error;
  }
}
