import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../../src/runtime/clock.ts";
import { loadKubeconfig } from "../../src/runtime/kube/auth.ts";
import type { KubeClient } from "../../src/runtime/kube/client.ts";
import { createKubeClient } from "../../src/runtime/kube/http.ts";
import { systemRng } from "../../src/runtime/rng.ts";
import { type Log, silentLog } from "../../src/telemetry/log.ts";
import { noMetrics } from "../../src/telemetry/metrics.ts";
import { type BuildProgress, type BuiltSet, buildSet } from "./build.ts";
import { createFaultProxy, type FaultProxy } from "./fault-proxy.ts";
import { argoCdVersions } from "./go-sets.ts";
import { type KubernetesCluster, startKubernetes } from "./kubernetes.ts";
import { serviceAccountType } from "./process-node/pod.ts";
import { createProcessNode, type ProcessNode } from "./process-node/process-node.ts";
import { type Catalogue, createCatalogue } from "./process-node/programs/catalogue.ts";
import { createRealNetwork, type RealNodes, startRealNodes } from "./real-node/real-cluster.ts";
import { claimStateDirectory } from "./state-directory.ts";

export interface DevClusterOptions {
  /** Everything is kept here, and a second start continues from it. One user at a time. */
  readonly stateDir: string;
  /** Default: one cluster, `main`. */
  readonly clusters?: readonly ClusterOptions[];
  /** Whether processes end with this one, however it ends. Default true. Otherwise the next start finds them. */
  readonly endsWithUs?: boolean;
  /** Whether pods reach their API server through the fault proxy, as the party `pod:<namespace>`. Default false. */
  readonly podsBehindProxy?: boolean;
  readonly progress?: BuildProgress;
  /** Called with each step that takes long, besides building. */
  readonly say?: (text: string) => void;
  readonly log?: Log;
  /** Where built programs are kept; default as in build.ts. */
  readonly cache?: string;
}

export interface ClusterOptions {
  readonly name: string;
  /** Whether pods run. Default true. Otherwise they stay pending. */
  readonly node?: boolean;
  /** So many real nodes, whose pods are containers, instead of the one whose pods are processes. Default 0. */
  readonly realNodes?: number;
}

/** One API server with its administrator and node. */
export interface DevApi {
  readonly name: string;
  readonly kubernetes: KubernetesCluster;
  /** Kubeconfig of the administrator, which does not go through the fault proxy. */
  readonly adminKubeconfig: string;
  /** As administrator. */
  readonly client: KubeClient;
  readonly node: ProcessNode | undefined;
  /** With what gives them images; absent where pods are processes. */
  readonly realNodes: RealNodes | undefined;
  /** Address by which pods reach this machine. */
  readonly hostForPods: string;
  readonly faultProxy: FaultProxy;
  /** The API server's URL for a party whose connection may be disturbed. The certificate is valid there too. */
  serverFor(party: string): Promise<string>;
  /** Stops the node and starts another one with the same pods, whose processes keep running. */
  restartNode(signal: AbortSignal): Promise<void>;
}

export interface DevCluster {
  readonly apis: ReadonlyMap<string, DevApi>;
  /** The first cluster. */
  readonly main: DevApi;
  /** One more API server, for example as a user's target cluster. */
  add(options: ClusterOptions, signal: AbortSignal): Promise<DevApi>;
  /** Folder with the CRDs (and `base`) of an Argo CD version. */
  argoCd(version: string, signal: AbortSignal): Promise<BuiltSet>;
  stop(): Promise<void>;
}

/**
 * Builds what is missing and starts the clusters. That takes seconds when everything is built, and minutes the first
 * time. Throws `InputError` when Go is missing or the folder is in use. Throws `UnavailableError` when a part does
 * not start, after it has ended the others.
 */
export async function startDevCluster(options: DevClusterOptions, signal: AbortSignal): Promise<DevCluster> {
  const obtain = (set: string, abort: AbortSignal) =>
    buildSet(
      set,
      { ...(options.progress ? { progress: options.progress } : {}), ...(options.cache ? { cache: options.cache } : {}) },
      abort,
    );
  const programs = await obtain("kubernetes", signal);
  const claim = claimStateDirectory(options.stateDir);
  const lifetime = new AbortController();
  const say = (text: string) => options.say?.(text);
  const catalogue = createCatalogue({ argoCdVersions: argoCdVersions(), obtain: (set) => obtain(set, lifetime.signal) });
  const apis = new Map<string, DevApi & { stop(): Promise<void> }>();
  const add = async (cluster: ClusterOptions, abort: AbortSignal) => {
    const api = await startApi({ options, cluster, programs, catalogue, obtain, say }, abort);
    apis.set(cluster.name, api);
    return api;
  };
  const stop = async () => {
    lifetime.abort();
    await Promise.all([...apis.values()].map((api) => api.stop()));
    claim.release();
  };
  const wanted = options.clusters ?? [{ name: "main" }];
  const started = await Promise.allSettled(wanted.map((cluster) => add(cluster, signal)));
  const [first] = started;
  const failed = started.find((result) => result.status === "rejected");
  if (failed !== undefined || first?.status !== "fulfilled") {
    await stop();
    throw failed?.reason;
  }
  return { apis, main: first.value, add, argoCd: (version, abort) => catalogue.obtain(`argo-cd-${version}`, abort), stop };
}

interface ApiParts {
  readonly options: DevClusterOptions;
  readonly cluster: ClusterOptions;
  readonly programs: BuiltSet;
  readonly catalogue: Catalogue;
  obtain(set: string, signal: AbortSignal): Promise<BuiltSet>;
  readonly say: (text: string) => void;
}

async function startApi(parts: ApiParts, signal: AbortSignal): Promise<DevApi & { stop(): Promise<void> }> {
  const { name, realNodes: count = 0 } = parts.cluster;
  const directory = join(parts.options.stateDir, name);
  const endsWithUs = parts.options.endsWithUs ?? true;
  mkdirSync(directory, { recursive: true });
  const network = count > 0 ? await createRealNetwork(directory, parts.say, signal) : undefined;
  const kubernetes = await startKubernetes(
    {
      ...{ name, directory, programs: parts.programs, endsWithUs },
      ...(network === undefined ? {} : { nodesReachAt: network.plan.host }),
    },
    signal,
  ).catch(async (error: unknown) => {
    await network?.remove();
    throw error;
  });
  const client = createKubeClient({
    cluster: name,
    credentials: loadKubeconfig({ file: kubernetes.kubeconfig }),
    clock: systemClock,
    rng: systemRng,
    metrics: noMetrics,
  });
  const faultProxy = createFaultProxy({
    target: { host: kubernetes.host, port: kubernetes.port },
    file: join(directory, "proxy-ports.json"),
  });
  const serverFor = async (party: string) => `https://127.0.0.1:${await faultProxy.portFor(party)}`;
  const newNode = () => createNode({ ...parts, directory, kubernetes, client, serverFor });
  let node = parts.cluster.node === false || count > 0 ? undefined : newNode();
  let realNodes: RealNodes | undefined;
  const stop = async () => {
    await node?.stop();
    await realNodes?.stop();
    await client.close();
    await faultProxy.close();
    await kubernetes.stop();
    await network?.remove();
  };
  try {
    await controllersRun(client, signal);
    await node?.start(signal);
    if (network !== undefined)
      realNodes = await startRealNodes(
        { ...parts, count, directory, network, kubernetes, client, endsWithUs, log: parts.options.log ?? silentLog },
        signal,
      );
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    ...{ name, kubernetes, adminKubeconfig: kubernetes.kubeconfig, client, realNodes, hostForPods: kubernetes.host, faultProxy, serverFor },
    get node() {
      return node;
    },
    async restartNode(abort) {
      await node?.stop({ leaveProcesses: true });
      node = newNode();
      await node.start(abort);
    },
    stop,
  };
}

interface NodeParts extends ApiParts {
  readonly directory: string;
  readonly kubernetes: KubernetesCluster;
  readonly client: KubeClient;
  readonly serverFor: DevApi["serverFor"];
}

function createNode(parts: NodeParts): ProcessNode {
  const { kubernetes, options } = parts;
  const serverOf = async (namespace: string) =>
    options.podsBehindProxy === true ? await parts.serverFor(`pod:${namespace}`) : kubernetes.server;
  return createProcessNode({
    name: "process-node",
    directory: join(parts.directory, "node"),
    client: parts.client,
    catalogue: parts.catalogue,
    apiServer: async (pod) => ({ server: await serverOf(pod.metadata.namespace), ca: kubernetes.ca }),
    endsWithUs: options.endsWithUs ?? true,
    ...{ clock: systemClock, rng: systemRng, log: (options.log ?? silentLog).child({ cluster: parts.cluster.name }), metrics: noMetrics },
  });
}

/** The controllers work once they have created what every namespace has. */
async function controllersRun(client: KubeClient, signal: AbortSignal): Promise<void> {
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(60_000)]);
  while ((await client.get(serviceAccountType, { namespace: "default", name: "default" }, deadline)) === undefined)
    await sleep(50, undefined, { signal: deadline });
}
