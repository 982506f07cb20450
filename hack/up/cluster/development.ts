import { buildSet } from "../../dev-cluster/build.ts";
import { startDevCluster } from "../../dev-cluster/dev-cluster.ts";
import type { ProvideContext, ProvidedCluster } from "./provided.ts";

/** The development cluster: real Kubernetes and Argo CD, built from their Go modules, as processes of this machine. */
export async function provideDevelopmentCluster(
  { state, progress, version }: ProvideContext,
  signal: AbortSignal,
): Promise<ProvidedCluster> {
  const onBuild = (step: { readonly set: string; readonly step: string; readonly seconds: number }): void =>
    progress.detail(`${step.step} of ${step.set}`);
  const build = (set: string) =>
    progress.step(`building ${set} from its Go module, unless built before`, () => buildSet(set, { progress: onBuild }, signal));
  const kubernetes = await build("kubernetes");
  const argoCd = await build(`argo-cd-${version}`);
  await build("tools");
  const dev = await progress.step("starting etcd, kube-apiserver, controllers and the process node", () =>
    startDevCluster({ stateDir: state.path("cluster"), progress: onBuild }, signal),
  );
  const { main } = dev;
  return {
    which: "a development cluster, because Go is installed: real Kubernetes and Argo CD built from their modules, run as processes",
    cluster: { client: main.client, server: main.kubernetes.server, ca: main.kubernetes.ca },
    kubeconfigFile: main.adminKubeconfig,
    kubectl: kubernetes.program("kubectl"),
    crds: `${argoCd.directory}/crds`,
    gitHost: "127.0.0.1",
    config: {},
    stop: () => dev.stop(),
  };
}
