import { buildSet } from "../../dev-cluster/build.ts";
import { type DevCluster, type DevClusterOptions, startDevCluster } from "../../dev-cluster/dev-cluster.ts";
import { rendererSets } from "../../dev-cluster/go-sets.ts";
import type { KubernetesCluster } from "../../dev-cluster/kubernetes.ts";
import { stopLeftovers } from "../../dev-cluster/state-directory.ts";
import type { Part } from "../keep-running.ts";
import type { ProvideContext, ProvidedCluster } from "./provided.ts";

/** The development cluster: real Kubernetes and Argo CD, built from their Go modules, as processes of this machine. */
export async function provideDevelopmentCluster(
  { state, progress, version }: ProvideContext,
  signal: AbortSignal,
): Promise<ProvidedCluster> {
  const onBuild = (step: { readonly set: string; readonly step: string; readonly seconds: number }): void =>
    progress.detail(`${step.step} of ${step.set}`);
  const build = (set: string) => progress.step(`building ${set}, unless built before`, () => buildSet(set, { progress: onBuild }, signal));
  const kubernetes = await build("kubernetes");
  const argoCd = await build(`argo-cd-${version}`);
  for (const set of ["tools", ...rendererSets(version)]) await build(set);
  const dev = await progress.step("starting etcd, kube-apiserver, controllers, node", () =>
    startWhole({ stateDir: state.path("cluster"), progress: onBuild }, signal),
  );
  const { main } = dev;
  return {
    cluster: { client: main.client, server: main.kubernetes.server, ca: main.kubernetes.ca },
    kubeconfigFile: main.adminKubeconfig,
    kubectl: kubernetes.program("kubectl"),
    crds: `${argoCd.directory}/crds`,
    gitHost: "127.0.0.1",
    reach: "address",
    config: {},
    parts: partsOf(main.kubernetes),
    stop: () => dev.stop(),
  };
}

/** A restart starts every component that does not run, in order, one restart at a time: so no component is started twice. */
function partsOf(kubernetes: KubernetesCluster): readonly Part[] {
  let last: Promise<unknown> = Promise.resolve();
  const restart = (signal: AbortSignal): Promise<void> => {
    const started = last.then(() => kubernetes.start(signal));
    last = started.catch(() => undefined);
    return started;
  };
  return kubernetes.components.flatMap((component) => ({
    name: component,
    logFile: kubernetes.logFile(component),
    ended: () => kubernetes.process(component)?.ended ?? Promise.resolve(UNSEEN),
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
