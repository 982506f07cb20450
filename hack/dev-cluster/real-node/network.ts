import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { UnavailableError } from "../../../src/domain/errors.ts";
import { type ClusterNetwork, NETWORKS, NODES, type NodeNetwork, planCluster, planNode } from "./network-plan.ts";
import { run } from "./run.ts";

/**
 * Makes the bridge of the cluster of `directory`: that of `kept`, if it is free, else the first free one. The bridge is the claim: the
 * kernel makes it for one of two who ask at once, and its alias says whose it is. Throws `UnavailableError` when all are taken.
 */
export async function createClusterNetwork(
  { directory, kept }: { readonly directory: string; readonly kept: number | undefined },
  signal: AbortSignal,
): Promise<ClusterNetwork> {
  const indices = [...Array(NETWORKS).keys()];
  for (const index of kept === undefined ? indices : [kept, ...indices]) {
    const network = planCluster(index);
    if (isThere(network)) continue;
    try {
      await run("ip", ["link", "add", network.bridge, "type", "bridge"], signal);
    } catch (error) {
      if (isThere(network)) continue;
      throw error;
    }
    await run("ip", ["link", "set", network.bridge, "alias", resolve(directory)], signal);
    await run("ip", ["address", "add", `${network.host}/24`, "dev", network.bridge], signal);
    await run("ip", ["link", "set", network.bridge, "up"], signal);
    return network;
  }
  throw new UnavailableError(`Making a network: all ${NETWORKS} are in use (see \`ip link\`)`, { code: "dev.no-network" });
}

function isThere({ bridge }: ClusterNetwork): boolean {
  return existsSync(`/sys/class/net/${bridge}`);
}

/** The networks that were made for the cluster of `directory` and are still there. */
export function networksOf(directory: string): readonly ClusterNetwork[] {
  return [...Array(NETWORKS).keys()].map(planCluster).filter((network) => {
    const alias = `/sys/class/net/${network.bridge}/ifalias`;
    return existsSync(alias) && readFileSync(alias, "utf8").trim() === resolve(directory);
  });
}

/**
 * Makes a node's network namespace with a link to the bridge, and routes between its pods, this machine and the pods of the other nodes.
 * There is no way from it to anywhere else: this machine forwards nothing.
 */
export async function createNodeNetwork(cluster: ClusterNetwork, node: NodeNetwork, signal: AbortSignal): Promise<void> {
  const ip = (...args: readonly string[]) => run("ip", args, signal);
  const inside = (...args: readonly string[]) => run("nsenter", [netns(node), ...args], signal);
  await ip("netns", "add", node.namespace);
  await ip("link", "add", node.link, "type", "veth", "peer", "name", "eth0", "netns", node.namespace);
  await ip("link", "set", node.link, "master", cluster.bridge, "up");
  await ip("route", "replace", node.pods, "via", node.address);
  await inside("ip", "link", "set", "lo", "up");
  await inside("ip", "address", "add", `${node.address}/24`, "dev", "eth0");
  await inside("ip", "link", "set", "eth0", "up");
  // Without a route to them, a process of the node could not even begin to speak to the address of a Service.
  await inside("ip", "route", "add", "default", "via", cluster.host);
  await inside("sysctl", "-q", "-w", "net.ipv4.ip_forward=1");
  for (const other of otherNodes(cluster, node)) await inside("ip", "route", "add", other.pods, "via", other.address);
}

function otherNodes(cluster: ClusterNetwork, node: NodeNetwork): readonly NodeNetwork[] {
  return Array.from({ length: NODES }, (_, at) => planNode(cluster, at + 1)).filter(({ name }) => name !== node.name);
}

/** Removes what `createNodeNetwork` made, as far as it is there. */
export async function removeNodeNetwork(node: NodeNetwork): Promise<void> {
  await run("ip", ["netns", "delete", node.namespace]).catch(() => undefined);
  await run("ip", ["link", "delete", node.link]).catch(() => undefined);
}

/** Removes a cluster's bridge with its addresses and routes. */
export async function removeClusterNetwork(cluster: ClusterNetwork): Promise<void> {
  await run("ip", ["link", "delete", cluster.bridge]).catch(() => undefined);
}

/** The argument by which nsenter(1) runs a program in a node's network. `ip netns exec` would mount /sys anew, without control groups. */
export function netns(node: NodeNetwork): string {
  return `--net=/run/netns/${node.namespace}`;
}
