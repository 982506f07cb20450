import { BlockList, isIPv6 } from "node:net";
import type { ClusterObjects, PeerObject, PodObject, PolicyObject, PortObject, SelectorObject } from "./objects.ts";

export interface Packet {
  readonly from: string;
  readonly to: string;
  readonly protocol: "TCP" | "UDP" | "SCTP";
  readonly port: number;
}

/**
 * Whether Kubernetes lets a new connection through, read off the objects as the API reference words it (NetworkPolicySpec and what it is
 * made of, networking.k8s.io/v1) and sharing no code with the rules. Addresses are those of running pods, or of nobody.
 */
export function allowsByTheBook(objects: ClusterObjects, packet: Packet): boolean {
  const source = podAt(objects, packet.from);
  const target = podAt(objects, packet.to);
  if (source !== undefined && source === target) return true;
  const leaves = source === undefined || allowsOneSide(objects, "Egress", { subject: source, other: packet.to, target, packet });
  const enters = target === undefined || allowsOneSide(objects, "Ingress", { subject: target, other: packet.from, target, packet });
  return leaves && enters;
}

interface Side {
  readonly subject: PodObject;
  /** Address at the other end. */
  readonly other: string;
  /** The pod that is connected to, if it is one. */
  readonly target: PodObject | undefined;
  readonly packet: Packet;
}

function allowsOneSide(objects: ClusterObjects, type: "Ingress" | "Egress", side: Side): boolean {
  const { metadata } = side.subject;
  const isolating = objects.policies.filter(
    ({ metadata: { namespace }, spec }) =>
      namespace === metadata.namespace && selects(spec.podSelector ?? {}, metadata.labels ?? {}) && typesOf(spec).includes(type),
  );
  return isolating.length === 0 || isolating.some((policy) => allowsByPolicy(objects, policy, type, side));
}

function typesOf(spec: PolicyObject["spec"]): readonly string[] {
  if (spec.policyTypes !== undefined && spec.policyTypes.length > 0) return spec.policyTypes;
  return (spec.egress ?? []).length > 0 ? ["Ingress", "Egress"] : ["Ingress"];
}

function allowsByPolicy(objects: ClusterObjects, policy: PolicyObject, type: "Ingress" | "Egress", side: Side): boolean {
  const rules =
    type === "Ingress"
      ? (policy.spec.ingress ?? []).map(({ from, ports }) => ({ peers: from ?? [], ports: ports ?? [] }))
      : (policy.spec.egress ?? []).map(({ to, ports }) => ({ peers: to ?? [], ports: ports ?? [] }));
  return rules.some(
    ({ peers, ports }) =>
      (peers.length === 0 || peers.some((peer) => isPeer(objects, policy, peer, side.other))) &&
      (ports.length === 0 || ports.some((port) => isPort(port, side))),
  );
}

function isPeer(objects: ClusterObjects, policy: PolicyObject, peer: PeerObject, address: string): boolean {
  if (peer.ipBlock !== undefined) {
    const { cidr, except = [] } = peer.ipBlock;
    return isInside(cidr, address) && !except.some((each) => isInside(each, address));
  }
  const pod = podAt(objects, address);
  if (pod === undefined || !selects(peer.podSelector ?? {}, pod.metadata.labels ?? {})) return false;
  if (peer.namespaceSelector === undefined) return pod.metadata.namespace === policy.metadata.namespace;
  const namespace = objects.namespaces.find(({ metadata }) => metadata.name === pod.metadata.namespace);
  return namespace !== undefined && selects(peer.namespaceSelector, namespace.metadata.labels ?? {});
}

function isPort({ protocol = "TCP", port, endPort }: PortObject, { target, packet }: Side): boolean {
  if (protocol !== packet.protocol) return false;
  if (port === undefined) return true;
  if (typeof port === "number") return packet.port >= port && packet.port <= (endPort ?? port);
  const sidecars = (target?.spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
  return [...(target?.spec.containers ?? []), ...sidecars].some(({ ports = [] }) =>
    ports.some((each) => each.name === port && (each.protocol ?? "TCP") === protocol && each.containerPort === packet.port),
  );
}

function selects({ matchLabels = {}, matchExpressions = [] }: SelectorObject, labels: Readonly<Record<string, string>>): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      const value = labels[key];
      if (operator === "Exists") return value !== undefined;
      if (operator === "DoesNotExist") return value === undefined;
      const isListed = value !== undefined && values.includes(value);
      return operator === "In" ? isListed : !isListed;
    })
  );
}

function podAt({ pods }: ClusterObjects, address: string): PodObject | undefined {
  return pods.find(
    ({ spec, status }) =>
      spec.hostNetwork !== true &&
      status.phase !== "Succeeded" &&
      status.phase !== "Failed" &&
      (status.podIP === address || status.podIPs?.some(({ ip }) => ip === address) === true),
  );
}

function isInside(cidr: string, address: string): boolean {
  const [network = "", prefix = ""] = cidr.split("/");
  const list = new BlockList();
  list.addSubnet(network, Number(prefix), isIPv6(network) ? "ipv6" : "ipv4");
  return isIPv6(network) === isIPv6(address) && list.check(address, isIPv6(address) ? "ipv6" : "ipv4");
}
