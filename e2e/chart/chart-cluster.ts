import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stringify } from "yaml";
import { buildSet } from "../../hack/dev-cluster/build.ts";
import { type DevApi, type DevCluster, startDevCluster } from "../../hack/dev-cluster/dev-cluster.ts";
import { argoCdSetName, rendererSets } from "../../hack/dev-cluster/go-sets.ts";
import { argoCdImage, type LocalImage, postgresImage, redisImage, referenceOf } from "../../hack/dev-cluster/real-node/images.ts";
import { API_SERVICE, planCluster } from "../../hack/dev-cluster/real-node/network-plan.ts";
import { run } from "../../hack/dev-cluster/real-node/run.ts";
import type { FleetImages } from "../../hack/fleet/images.ts";
import { type GitServer, startGitServer } from "../../hack/git-server/git-server.ts";
import { SYSTEM_NAMESPACE } from "../../src/domain/names.ts";
import { type Ended, mustRun, runProgram } from "./run-program.ts";

/** Release of Argo CD of the instances. */
const ARGO_CD = "3.5.7";
const HELM = "helm-3.19.4";
export const CHART = fileURLToPath(new URL("../../charts/argosy", import.meta.url));
export const RELEASE = "argosy";

/** A cluster with real nodes, and the tools of somebody who installs Argosy on it. */
export interface ChartCluster {
  readonly api: DevApi;
  readonly git: GitServer;
  /** The addresses of its API server, behind the Service and the Service's own. */
  readonly apiServers: readonly string[];
  /** Runs helm against the cluster, and the release's namespace unless the arguments name another. */
  helm(args: readonly string[]): Promise<Ended>;
  kubectl(args: readonly string[], input?: string): Promise<string>;
  /**
   * A file with these values, on top of those that this cluster needs. `ofPrevious`: for the release before, in which every namespace was a
   * workspace that may deploy every kind, and which refuses values that say so.
   */
  valuesFile(name: string, values: Readonly<Record<string, unknown>>, options?: ValuesOptions): string;
  stop(): Promise<void>;
}

export interface ValuesOptions {
  readonly ofPrevious?: boolean;
  /** What the fleet's pool has instead of the usual. */
  readonly pool?: Readonly<Record<string, unknown>>;
}

export interface ChartClusterOptions {
  readonly nodes: number;
  /** Images of Argosy, besides those that come with the cluster. */
  readonly images: readonly LocalImage[];
}

/**
 * Starts nodes, gives them all images, and makes what an administrator makes before `helm install`: the namespace, which takes restricted pods only,
 * and the definitions of Argo CD.
 */
export async function startChartCluster({ nodes, images }: ChartClusterOptions, signal: AbortSignal): Promise<ChartCluster> {
  const directory = mkdtempSync(join(tmpdir(), "argosy-chart-"));
  const dev = await startDevCluster({ stateDir: join(directory, "cluster"), clusters: [{ name: "main", realNodes: nodes }] }, signal);
  let git: GitServer | undefined;
  const stop = async (): Promise<void> => {
    await git?.stop();
    await dev.stop();
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    const api = dev.main;
    const ofInstances = await addImages(api, images, signal);
    git = await startGitServer({ directory: join(directory, "git"), host: await addressForGit(api, signal) });
    const cluster = await openCluster({ api, git, directory, stop, ofInstances }, signal);
    await prepare(dev, cluster, signal);
    return cluster;
  } catch (error) {
    await stop();
    throw error;
  }
}

/** An address of its own on the bridge of the nodes: policies that let somebody reach Git must not let him reach the API server too. */
async function addressForGit({ hostForPods, kubernetes }: DevApi, signal: AbortSignal): Promise<string> {
  const address = hostForPods.replace(/\.1$/, ".2");
  const bridge = planCluster(Number(kubernetes.host.split(".")[2])).bridge;
  await run("ip", ["address", "replace", `${address}/32`, "dev", bridge], signal);
  return address;
}

/** Returns the images of instances as the fleet declares them. */
async function addImages({ realNodes }: DevApi, images: readonly LocalImage[], signal: AbortSignal): Promise<FleetImages> {
  if (realNodes === undefined) throw new Error("a cluster without real nodes runs no images");
  const release = { tag: `v${ARGO_CD}`, sets: [argoCdSetName(ARGO_CD), ...rendererSets(ARGO_CD)] };
  const [argoCd, redis] = [await argoCdImage(realNodes.images, release, signal), await redisImage(realNodes.images, signal)];
  for (const image of [argoCd, redis, await postgresImage(realNodes.images, signal), ...images]) await realNodes.addImage(image, signal);
  return { image: await referenceOf(argoCd, signal), redisImage: await referenceOf(redis, signal) };
}

async function openCluster(
  {
    api,
    git,
    directory,
    stop,
    ofInstances,
  }: Pick<ChartCluster, "api" | "git" | "stop"> & { readonly directory: string; readonly ofInstances: FleetImages },
  signal: AbortSignal,
): Promise<ChartCluster> {
  const helm = (await buildSet(HELM, {}, signal)).program("helm");
  const kubectl = (await buildSet("kubernetes", {}, signal)).program("kubectl");
  // Helm keeps what it caches in folders of this test, and reads no settings of the person who runs it.
  const env = { KUBECONFIG: api.adminKubeconfig, HELM_CACHE_HOME: directory, HELM_CONFIG_HOME: directory, HELM_DATA_HOME: directory };
  const apiServers = [API_SERVICE, api.kubernetes.host];
  return {
    ...{ api, git, apiServers, stop },
    helm: (args) => runProgram(helm, ["--namespace", SYSTEM_NAMESPACE, ...args], { env, signal }),
    kubectl: (args, input) => mustRun(kubectl, args, { env, signal, ...(input === undefined ? {} : { input }) }),
    valuesFile(name, values, { ofPrevious = false, pool = {} } = {}) {
      const file = join(directory, `${name}.yaml`);
      const ofCluster = clusterValues({ api, git, apiServers, ofInstances, pool, isOpen: !ofPrevious });
      writeFileSync(file, stringify({ ...ofCluster, ...values }));
      return file;
    },
  };
}

/** What an installation on such a cluster says of it: its addresses, its images, a small fleet. */
function clusterValues({
  api,
  git,
  apiServers,
  ofInstances,
  pool,
  isOpen,
}: Pick<ChartCluster, "api" | "git" | "apiServers"> & {
  readonly ofInstances: FleetImages;
  readonly pool: NonNullable<ValuesOptions["pool"]>;
  /** Whether it says that every namespace is a workspace and may deploy every kind. */
  readonly isOpen: boolean;
}): Readonly<Record<string, unknown>> {
  const ranges = apiServers.map((address) => `${address}/32`);
  return {
    postgresql: { evaluation: true, image: "argosy.dev/postgres:18", storage: "1Gi" },
    argoCdDefinitions: [{ version: ARGO_CD, configMap: "argo-cd-definitions" }],
    config: { apiCluster: { singleServer: true } },
    networkPolicies: {
      kubernetes: { cidrs: ranges, ports: [443, api.kubernetes.port] },
      outside: { cidrs: [`${hostOf(git)}/32`], except: [], ports: [git.port] },
    },
    fleet: {
      apiVersion: "argosy.dev/v1alpha1",
      kind: "Fleet",
      engineClusters: [{ name: "here", region: "local", inCluster: true }],
      versions: {
        default: ARGO_CD,
        catalogue: [
          {
            version: ARGO_CD,
            ...ofInstances,
            crds: `/etc/argosy/argo-cd/${ARGO_CD}`,
          },
        ],
      },
      pools: [
        {
          name: "standard",
          class: { region: "local", tier: "shared", trust: "public" },
          engineClusters: ["here"],
          instances: { min: 2, max: 2 },
          capacity: { applications: 1000, clusterEntries: 15, cachedResources: 50_000, milliCpu: 2000, gitPerMinute: 600 },
          resources: {
            controller: { memory: "1Gi", cpu: "2" },
            repoServer: { memory: "512Mi", cpu: "1" },
            redis: { memory: "128Mi", cpu: "100m" },
          },
          ...pool,
        },
      ],
      workspaces: { ...(isOpen ? { everyNamespace: true } : {}), quota: { deployments: 1000 } },
      ...(isOpen ? { deployments: { allowedGroups: ["*"] } } : {}),
      egress: { allow: [`${hostOf(git)}/32`], apiServers: ranges, http: [hostOf(git)] },
    },
  };
}

export function hostOf({ url }: GitServer): string {
  return new URL(url).hostname;
}

async function prepare(dev: DevCluster, cluster: ChartCluster, signal: AbortSignal): Promise<void> {
  const labels = { "pod-security.kubernetes.io/enforce": "restricted" };
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: SYSTEM_NAMESPACE, labels } };
  await cluster.kubectl(["apply", "-f", "-"], JSON.stringify(namespace));
  const { directory } = await dev.argoCd(ARGO_CD, signal);
  const files = ["application-crd.yaml", "appproject-crd.yaml"].map((name) => `--from-file=${join(directory, "crds", name)}`);
  await cluster.kubectl(["create", "configmap", "argo-cd-definitions", "--namespace", SYSTEM_NAMESPACE, ...files]);
}

/** The values that name an image. */
export function imageValues({ name }: LocalImage): { readonly repository: string; readonly tag: string } {
  const [repository = "", tag = ""] = name.split(":");
  return { repository, tag };
}
