import type { KubeClient } from "../../../../src/runtime/kube/client.ts";
import type { KubeObject } from "../../../../src/runtime/kube/resource.ts";
import { podType } from "../../process-node/pod.ts";
import { parseNamespace, parsePod } from "../cluster-objects.ts";
import type { ClusterState } from "../plan-rules.ts";
import { parsePolicy } from "../policy.ts";

/** A NetworkPolicy as a person writes it (networking.k8s.io/v1). */
export interface PolicyObject extends KubeObject {
  readonly metadata: KubeObject["metadata"] & { readonly namespace: string };
  readonly spec: PolicySpec;
}

export interface PolicySpec {
  readonly podSelector?: SelectorObject;
  readonly policyTypes?: readonly ("Ingress" | "Egress")[];
  readonly ingress?: readonly { readonly from?: readonly PeerObject[]; readonly ports?: readonly PortObject[] }[];
  readonly egress?: readonly { readonly to?: readonly PeerObject[]; readonly ports?: readonly PortObject[] }[];
}

export interface SelectorObject {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly { readonly key: string; readonly operator: string; readonly values?: readonly string[] }[];
}

export interface PeerObject {
  readonly podSelector?: SelectorObject;
  readonly namespaceSelector?: SelectorObject;
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
}

export interface PortObject {
  readonly protocol?: "TCP" | "UDP" | "SCTP";
  readonly port?: number | string;
  readonly endPort?: number;
}

/** A pod with what policies judge it by (core/v1). */
export interface PodObject extends KubeObject {
  readonly metadata: KubeObject["metadata"] & { readonly namespace: string };
  readonly spec: {
    readonly hostNetwork?: boolean;
    readonly containers: readonly { readonly name: string; readonly ports?: readonly ContainerPortObject[] }[];
    readonly initContainers?: readonly {
      readonly name: string;
      readonly restartPolicy?: "Always";
      readonly ports?: readonly ContainerPortObject[];
    }[];
  };
  readonly status: { readonly phase: string; readonly podIP?: string; readonly podIPs?: readonly { readonly ip: string }[] };
}

export interface ContainerPortObject {
  readonly name?: string;
  readonly containerPort: number;
  readonly protocol?: "TCP" | "UDP" | "SCTP";
}

export interface ClusterObjects {
  readonly policies: readonly PolicyObject[];
  readonly pods: readonly PodObject[];
  readonly namespaces: readonly KubeObject[];
}

/** `at` is `namespace/name`. */
export function aPolicy(at: string, spec: PolicySpec): PolicyObject {
  return { apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", metadata: metadataOf(at), spec };
}

export interface PodChanges {
  readonly labels?: Readonly<Record<string, string>>;
  readonly ports?: readonly ContainerPortObject[];
  readonly spec?: Partial<PodObject["spec"]>;
  readonly status?: Partial<PodObject["status"]>;
  readonly metadata?: Partial<KubeObject["metadata"]>;
}

/** A running pod. `at` is `namespace/name`; without an address, its node has not reported one yet. */
export function aPod(at: string, ip: string | undefined, { labels = {}, ports = [], spec, status, metadata }: PodChanges = {}): PodObject {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { ...metadataOf(at), labels, ...metadata },
    spec: { containers: [{ name: "main", ports }], ...spec },
    status: { phase: "Running", ...(ip === undefined ? {} : { podIP: ip, podIPs: [{ ip }] }), ...status },
  };
}

/** Creates a pod and reports its status, as its node does: an API server takes no status with a new object. */
export async function createPod(client: KubeClient, pod: PodObject, signal: AbortSignal): Promise<void> {
  await client.create(podType, pod, signal);
  await client.mergePatch(podType, { ...pod.metadata, subresource: "status" }, { status: pod.status }, signal);
}

export function aNamespace(name: string, labels: Readonly<Record<string, string>> = {}): KubeObject {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name, labels: { "kubernetes.io/metadata.name": name, ...labels } } };
}

export function stateOf({ policies, pods, namespaces }: ClusterObjects): ClusterState {
  return { policies: policies.map(parsePolicy), pods: pods.map(parsePod), namespaces: namespaces.map(parseNamespace) };
}

function metadataOf(at: string) {
  const [namespace = "", name = ""] = at.split("/");
  return { namespace, name };
}
