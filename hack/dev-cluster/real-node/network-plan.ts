/** Names and addresses of one cluster's network on this machine. */
export interface ClusterNetwork {
  /** 0 to 63. It tells the networks of clusters that run at the same time apart. */
  readonly index: number;
  /** Bridge that connects this machine with the nodes. */
  readonly bridge: string;
  /** This machine's address on the bridge: pods reach the API server and Git there. */
  readonly host: string;
  /** Addresses of the bridge, as CIDR. */
  readonly range: string;
}

/** Names and addresses of one node. */
export interface NodeNetwork {
  readonly name: string;
  /** The node's network namespace. */
  readonly namespace: string;
  /** The end of the node's link that is a port of the bridge. */
  readonly link: string;
  readonly address: string;
  /** Addresses of the node's pods, as CIDR. */
  readonly pods: string;
}

export const NETWORKS = 64;
/** The nodes of one cluster, at most. */
export const NODES = 8;

export const SERVICES = "10.96.0.0/16";
/** First address of the Services: the API server, as pods know it. */
export const API_SERVICE = "10.96.0.1";
export const DNS_SERVICE = "10.96.0.10";
export const CLUSTER_DOMAIN = "cluster.local";

/**
 * The bridge is in 198.18.0.0/15, which is set aside for tests of networks (RFC 2544), and pods are in 10.128.0.0/10: so neither
 * meets an address that the machine uses, and no packet that goes astray finds a machine.
 */
export function planCluster(index: number): ClusterNetwork {
  return { index, bridge: `argosy${index}`, host: `198.18.${index}.1`, range: `198.18.${index}.0/24` };
}

/** `number` is 1 to `NODES`. */
export function planNode(cluster: ClusterNetwork, number: number): NodeNetwork {
  return {
    name: `node-${number}`,
    namespace: `argosy${cluster.index}-node-${number}`,
    link: `argosy${cluster.index}n${number}`,
    address: `198.18.${cluster.index}.${10 + number}`,
    pods: `10.${128 + cluster.index}.${number}.0/24`,
  };
}

/** Addresses of the pods of all nodes of a cluster. */
export function podRange(cluster: ClusterNetwork): string {
  return `10.${128 + cluster.index}.0.0/16`;
}
