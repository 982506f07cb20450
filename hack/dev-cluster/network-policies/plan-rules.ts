import { type Address, type AddressRange, compareAddresses, formatAddress, mergeRanges, rangeOf } from "./addresses.ts";
import type { NamespaceFacts, PodFacts } from "./cluster-objects.ts";
import { isSelected, type Labels } from "./label-selector.ts";
import type { Direction, NumberedPorts, Peer, Policy, PolicyPort, PolicyRule, Problem, Protocol } from "./policy.ts";

/** What a node enforces on connections that pass through it, in terms of addresses and ports. */
export interface NodeRules {
  /** Addresses from which everything may connect to pods, as the node may. */
  readonly trustedSources: readonly AddressRange[];
  /** Addresses that only pods have: one of them that is not among `pods` is closed. */
  readonly podRanges: readonly AddressRange[];
  /** Addresses of pods, sorted. */
  readonly pods: readonly Address[];
  /** Addresses that nothing reaches and from which nothing comes, sorted: it is not known what their pod may do. */
  readonly closed: readonly Address[];
  readonly namedPorts: readonly NamedPortTargets[];
  readonly ingress: DirectionRules;
  readonly egress: DirectionRules;
}

/** Where the containers' ports of one name are. */
export interface NamedPortTargets {
  readonly protocol: Protocol;
  readonly name: string;
  /** Sorted by address and port. */
  readonly targets: readonly { readonly address: Address; readonly port: number }[];
}

export interface DirectionRules {
  /** Policies that select a pod, sorted by namespace and name. */
  readonly policies: readonly PolicyRules[];
  /** Pods that are isolated, by which policies select them. A connection needs one of the policies to allow it. */
  readonly groups: readonly PodGroup[];
}

export interface PolicyRules {
  readonly namespace: string;
  readonly name: string;
  readonly rules: readonly AddressRule[];
}

export interface AddressRule {
  /** Sorted and disjoint. */
  readonly peers: "any" | readonly AddressRange[];
  readonly ports: "any" | readonly PolicyPort[];
}

export interface PodGroup {
  /** Positions in `policies`, ascending. */
  readonly policies: readonly number[];
  /** Sorted. */
  readonly pods: readonly Address[];
}

export interface ClusterState {
  readonly policies: readonly Policy[];
  readonly pods: readonly PodFacts[];
  readonly namespaces: readonly NamespaceFacts[];
}

export interface NodeSettings {
  readonly podRanges: readonly AddressRange[];
  readonly trustedSources: readonly AddressRange[];
}

export interface RulesPlan {
  readonly rules: NodeRules;
  /** Sorted by kind, namespace and name. */
  readonly problems: readonly Problem[];
}

/** Computes what the policies of a cluster come to on a node. The result does not depend on the order of what it is given. */
export function planRules(state: ClusterState, settings: NodeSettings): RulesPlan {
  const { open, closed, problems } = assignAddresses(state.pods);
  const pods = open.sort(byName);
  const policies = [...state.policies].sort(byName);
  const labels = new Map(state.namespaces.flatMap(({ name, labels: each }) => (each === undefined ? [] : [[name, each] as const])));
  const rules: NodeRules = {
    trustedSources: mergeRanges(settings.trustedSources),
    podRanges: mergeRanges(settings.podRanges),
    pods: addressesOf(pods),
    closed,
    namedPorts: namedPortsOf(policies, pods),
    ingress: planDirection("ingress", { policies, pods, labels }),
    egress: planDirection("egress", { policies, pods, labels }),
  };
  const all = [
    ...problems,
    ...state.pods.flatMap(({ problem }) => problem ?? []),
    ...state.namespaces.flatMap(({ problem }) => problem ?? []),
    ...policies.flatMap((policy) => [...policy.problems, ...unresolvedPorts(policy, pods)]),
  ];
  return { rules, problems: all.sort((a, b) => compare(a.kind, b.kind) || byName(a, b) || compare(a.message, b.message)) };
}

/**
 * Gives each address to one pod. A pod that is being deleted may have released its address to another one, which has it then. An address
 * that two other pods claim, and those of a pod that could not be read, are closed.
 */
function assignAddresses(pods: readonly PodFacts[]) {
  const claims = new Map<string, { readonly address: Address; readonly pods: PodFacts[] }>();
  for (const pod of pods) {
    for (const address of pod.addresses) {
      const claim = claims.get(formatAddress(address)) ?? { address, pods: [] };
      claims.set(formatAddress(address), claim);
      claim.pods.push(pod);
    }
  }
  const granted = new Map<PodFacts, Address[]>(pods.map((pod) => [pod, []]));
  const closed: Address[] = [];
  const problems: Problem[] = [];
  for (const { address, pods: claimants } of claims.values()) {
    const staying = claimants.filter(({ isDeleting }) => !isDeleting);
    const [owner, ...others] = staying.length > 0 ? staying : claimants;
    if (owner !== undefined && others.length === 0 && owner.problem === undefined) granted.get(owner)?.push(address);
    else closed.push(address);
    const message = `it has the address ${formatAddress(address)}, which another pod has too`;
    if (owner === undefined || others.length === 0) continue;
    for (const { namespace, name } of [owner, ...others])
      problems.push({ kind: "Pod", namespace, name, message, effect: "nothing reaches this address or comes from it" });
  }
  const open = [...granted].flatMap(([pod, addresses]) => (addresses.length === 0 ? [] : [{ ...pod, addresses }]));
  return { open, closed: closed.sort(compareAddresses), problems };
}

interface Subjects {
  readonly policies: readonly Policy[];
  readonly pods: readonly PodFacts[];
  /** By name of the namespace. */
  readonly labels: ReadonlyMap<string, Labels>;
}

function planDirection(direction: Direction, subjects: Subjects): DirectionRules {
  const isolating = subjects.policies.filter((policy) => policy[direction] !== undefined);
  const used = isolating.filter((policy) => subjects.pods.some((pod) => isSubject(policy, pod)));
  const groups = new Map<string, { readonly policies: readonly number[]; readonly pods: PodFacts[] }>();
  for (const pod of subjects.pods) {
    const selecting = used.flatMap((policy, at) => (isSubject(policy, pod) ? [at] : []));
    if (selecting.length === 0) continue;
    const group = groups.get(selecting.join()) ?? { policies: selecting, pods: [] };
    groups.set(selecting.join(), group);
    group.pods.push(pod);
  }
  return {
    policies: used.map((policy) => ({
      namespace: policy.namespace,
      name: policy.name,
      rules: (policy[direction] ?? []).map((rule) => toAddresses(rule, policy, subjects)),
    })),
    groups: [...groups.values()].map(({ policies, pods }) => ({ policies, pods: addressesOf(pods) })),
  };
}

const isSubject = (policy: Policy, pod: PodFacts): boolean => policy.namespace === pod.namespace && isSelected(policy.selector, pod.labels);

function toAddresses({ peers, ports }: PolicyRule, policy: Policy, subjects: Subjects): AddressRule {
  if (peers === "any") return { peers, ports };
  return { peers: mergeRanges(peers.flatMap((peer) => rangesOf(peer, policy, subjects))), ports };
}

function rangesOf(peer: Peer, policy: Policy, { pods, labels }: Subjects): readonly AddressRange[] {
  if (peer.kind === "addresses") return peer.ranges;
  const { namespaces } = peer;
  const isInNamespace = ({ namespace }: PodFacts): boolean => {
    if (namespaces === "own") return namespace === policy.namespace;
    const found = labels.get(namespace);
    return found !== undefined && isSelected(namespaces, found);
  };
  const selected = pods.filter((pod) => isInNamespace(pod) && isSelected(peer.pods, pod.labels));
  return selected.flatMap(({ addresses }) => addresses.map(rangeOf));
}

/** Whatever selects the peers of an egress rule, a name means the port of the pod that is connected to; an address that is no pod has none. */
function namedPortsOf(policies: readonly Policy[], pods: readonly PodFacts[]): readonly NamedPortTargets[] {
  const wanted = new Map(
    policies
      .flatMap(({ ingress = [], egress = [] }) => [...ingress, ...egress])
      .flatMap(({ ports }) => (ports === "any" ? [] : ports))
      .flatMap((port) => ("name" in port ? [[`${port.protocol} ${port.name}`, port] as const] : [])),
  );
  return [...wanted.keys()].sort().flatMap((key) => {
    const port = wanted.get(key);
    return port === undefined ? [] : [{ protocol: port.protocol, name: port.name, targets: targetsOf(port, pods) }];
  });
}

function targetsOf({ protocol, name }: { readonly protocol: Protocol; readonly name: string }, pods: readonly PodFacts[]) {
  const found = pods.flatMap(({ addresses, ports }) =>
    ports
      .filter((port) => port.name === name && port.protocol === protocol)
      .flatMap(({ port }) => addresses.map((address) => ({ address, port }))),
  );
  const distinct = new Map(found.map((target) => [`${formatAddress(target.address)} ${target.port}`, target]));
  return [...distinct.values()].sort((a, b) => compareAddresses(a.address, b.address) || a.port - b.port);
}

/** Names of ports that no pod has which they could be about. While a policy selects no pod, nobody expects one. */
function unresolvedPorts(policy: Policy, pods: readonly PodFacts[]): readonly Problem[] {
  const subjects = pods.filter((pod) => isSubject(policy, pod));
  if (subjects.length === 0) return [];
  const check = (direction: Direction, targets: readonly PodFacts[]) =>
    (policy[direction] ?? []).flatMap(({ ports }, rule) =>
      (ports === "any" ? [] : ports).flatMap((port, at): readonly Problem[] => {
        if (!("name" in port) || targetsOf(port, targets).length > 0) return [];
        const which = direction === "ingress" ? "no pod that it selects" : "no pod";
        const message = `spec.${direction}[${rule}].ports[${at}].port is "${port.name}", which ${which} calls a ${port.protocol} port`;
        const { namespace, name } = policy;
        return [{ kind: "NetworkPolicy", namespace, name, message, effect: "this port allows nothing" }];
      }),
    );
  return [...check("ingress", subjects), ...check("egress", pods)];
}

/** Ports without names as few ranges, by protocol: TCP, UDP, SCTP. */
export function mergePorts(ports: readonly NumberedPorts[]): readonly NumberedPorts[] {
  const merged: NumberedPorts[] = [];
  const sorted = [...ports].sort((a, b) => compare(a.protocol, b.protocol) || a.first - b.first);
  for (const next of sorted) {
    const before = merged.at(-1);
    if (before === undefined || before.protocol !== next.protocol || next.first > before.last + 1) merged.push(next);
    else if (next.last > before.last) merged[merged.length - 1] = { ...before, last: next.last };
  }
  return merged;
}

function addressesOf(pods: readonly PodFacts[]): readonly Address[] {
  return pods.flatMap(({ addresses }) => addresses).sort(compareAddresses);
}

interface Named {
  readonly namespace: string;
  readonly name: string;
}

const byName = (a: Named, b: Named): number => compare(a.namespace, b.namespace) || compare(a.name, b.name);

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
