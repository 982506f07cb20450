import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { InputError } from "../../../src/domain/errors.ts";
import type { KubeClient } from "../../../src/runtime/kube/client.ts";
import type { KubeObject } from "../../../src/runtime/kube/resource.ts";
import type { Log } from "../../../src/telemetry/log.ts";
import { applyAll, typeOf } from "../apply.ts";
import { type BuiltSet, cacheDirectory } from "../build.ts";
import type { KubernetesCluster } from "../kubernetes.ts";
import { type ImageBuilder, type LocalImage, nameServerImage, pauseImage, postgresImage } from "./images.ts";
import { renderNameServer } from "./name-server.ts";
import { createClusterNetwork, networksOf, removeClusterNetwork } from "./network.ts";
import { type ClusterNetwork, NODES, planNode } from "./network-plan.ts";
import { createRealNode, type RealNode } from "./real-node.ts";
import { type NodeFolders, removeNode } from "./remove-node.ts";
import { provideForRealNode } from "./requirements.ts";
import { createVolumeProvisioner, STORAGE_CLASS } from "./volume-provisioner.ts";

/** The network of a cluster with real nodes, which is there before its API server. */
export interface RealNetwork {
  readonly plan: ClusterNetwork;
  remove(): Promise<void>;
}

/** Makes the network with the number of the last start, which `directory` keeps, unless another cluster has taken it meanwhile. */
export async function createRealNetwork(directory: string, say: (text: string) => void, signal: AbortSignal): Promise<RealNetwork> {
  await provideForRealNode(say, signal);
  const file = join(directory, "network");
  const kept = existsSync(file) ? Number(readFileSync(file, "utf8")) : undefined;
  await removeRealLeftovers(directory);
  const plan = await createClusterNetwork({ directory, kept }, signal);
  writeFileSync(file, String(plan.index));
  return { plan, remove: () => removeClusterNetwork(plan) };
}

/**
 * Removes what a killed cluster of `directory` left of its nodes and its network, programs that still run included. Returns how many
 * networks that were.
 */
export async function removeRealLeftovers(directory: string): Promise<number> {
  const networks = networksOf(directory);
  for (const network of networks) {
    for (let number = 1; number <= NODES; number += 1) await removeNode(foldersOf(network, directory, number));
    await removeClusterNetwork(network);
  }
  return networks.length;
}

function foldersOf(cluster: ClusterNetwork, directory: string, number: number): NodeFolders {
  const node = planNode(cluster, number);
  return { node, directory: join(directory, node.name), runDirectory: `/run/${node.namespace}` };
}

export interface RealNodesOptions {
  readonly count: number;
  readonly directory: string;
  readonly network: RealNetwork;
  readonly kubernetes: KubernetesCluster;
  readonly client: KubeClient;
  obtain(set: string, signal: AbortSignal): Promise<BuiltSet>;
  readonly say: (text: string) => void;
  readonly endsWithUs: boolean;
  readonly log: Log;
}

/** The nodes of a cluster, with what pods find in every cluster: names, volumes. */
export interface RealNodes {
  readonly nodes: readonly RealNode[];
  readonly images: ImageBuilder;
  /** Gives every node an image. */
  addImage(image: LocalImage, signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
}

type Makes = Pick<RealNodesOptions, "obtain" | "say">;

/**
 * Makes what every real node needs before one is started: Debian packages, programs, images. Where this machine cannot run one, says why and
 * does nothing.
 */
export async function prepareRealNodes(makes: Makes, signal: AbortSignal): Promise<void> {
  try {
    await provideForRealNode(makes.say, signal);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return makes.say(`${error.message}. ${error.remedy}`);
  }
  const images = imageBuilder(makes);
  await buildNodes(images, signal);
  // What tests give them besides, and what takes long: the Debian that it stands on.
  await postgresImage(images, signal);
}

function imageBuilder({ obtain, say }: Makes): ImageBuilder {
  return {
    cache: join(cacheDirectory(), "images"),
    obtain,
    step: async (what, work) => {
      say(what);
      return work();
    },
  };
}

/** The programs of nodes and the images that each of them has. */
async function buildNodes(images: ImageBuilder, signal: AbortSignal) {
  const programs = await images.obtain("kubernetes-node", signal);
  return { programs, pause: await pauseImage(images, signal), nameServer: await nameServerImage(images, signal) };
}

/** Starts the nodes. After a failure none of them is left. */
export async function startRealNodes(options: RealNodesOptions, signal: AbortSignal): Promise<RealNodes> {
  const { kubernetes, client } = options;
  const images = imageBuilder(options);
  const { programs, pause, nameServer } = await buildNodes(images, signal);
  const nodes: RealNode[] = [];
  const provisioner = createVolumeProvisioner({ client, directory: join(options.directory, "volumes"), log: options.log });
  const stop = async (): Promise<void> => {
    await provisioner.stop();
    await Promise.all(nodes.map((node) => node.stop()));
  };
  try {
    for (let number = 1; number <= options.count; number += 1) {
      const node = createRealNode({
        ...{ cluster: options.network.plan, folders: foldersOf(options.network.plan, options.directory, number), client, programs, pause },
        ...{ server: kubernetes.server, pki: kubernetes.pki, endsWithUs: options.endsWithUs, log: options.log },
      });
      nodes.push(node);
    }
    await Promise.all(nodes.map((node) => node.start(signal)));
    await Promise.all(nodes.map((node) => node.addImage(nameServer, signal)));
    await removeEarlierClass(client, signal);
    await applyAll(client, [...renderNameServer(), STORAGE_CLASS], signal);
    provisioner.start();
  } catch (error) {
    await stop();
    throw error;
  }
  const addImage = async (image: LocalImage, abort: AbortSignal): Promise<void> =>
    void (await Promise.all(nodes.map((node) => node.addImage(image, abort))));
  return { nodes, images, addImage, stop };
}

/** A cluster of an earlier version had its volumes from the controller manager, and nobody may change that of a class that is there. */
async function removeEarlierClass(client: KubeClient, signal: AbortSignal): Promise<void> {
  const [type, at] = [typeOf(STORAGE_CLASS), { namespace: "", name: STORAGE_CLASS.metadata.name }];
  const found = await client.get<KubeObject & { readonly provisioner?: string }>(type, at, signal);
  if (found !== undefined && found.provisioner !== STORAGE_CLASS.provisioner) await client.delete(type, at, {}, signal);
}
