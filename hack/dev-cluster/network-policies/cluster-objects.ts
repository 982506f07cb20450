import { InputError } from "../../../src/domain/errors.ts";
import type { KubeObject, ResourceType } from "../../../src/runtime/kube/resource.ts";
import { type Address, parseAddress } from "./addresses.ts";
import type { Labels } from "./label-selector.ts";
import { PROTOCOLS, type Problem, type Protocol } from "./policy.ts";
import { readLabels, readList, readObject, readOneOf, readPortNumber, wrong } from "./read-fields.ts";

export const policyType: ResourceType = {
  group: "networking.k8s.io",
  version: "v1",
  plural: "networkpolicies",
  kind: "NetworkPolicy",
  namespaced: true,
};

/** What policies judge a pod by. Pods in the node's network and pods that have ended have no addresses here: they are no subject. */
export interface PodFacts {
  readonly namespace: string;
  readonly name: string;
  readonly labels: Labels;
  readonly addresses: readonly Address[];
  readonly ports: readonly ContainerPort[];
  readonly isDeleting: boolean;
  /** Set if it could not be read: nothing reaches it and it reaches nothing. */
  readonly problem?: Problem;
}

export interface ContainerPort {
  readonly name: string;
  readonly protocol: Protocol;
  readonly port: number;
}

export interface NamespaceFacts {
  readonly name: string;
  /** `undefined`: they could not be read, and no namespaceSelector selects it. */
  readonly labels: Labels | undefined;
  readonly problem?: Problem;
}

/** Reads a pod (core/v1) and never throws. */
export function parsePod(object: KubeObject): PodFacts {
  const { name, namespace = "", deletionTimestamp } = object.metadata;
  const who = { namespace, name, isDeleting: deletionTimestamp !== undefined };
  const addresses = addressesOf(object);
  const problemOf = (message: string): Problem => ({
    kind: "Pod",
    namespace,
    name,
    message,
    effect: "nothing reaches it or comes from it",
  });
  try {
    const labels = readLabels(object.metadata.labels, "metadata.labels");
    const ports = portsOf(readObject((object as { readonly spec?: unknown }).spec, "spec"));
    const unread = addresses.find(({ address }) => address === undefined);
    if (unread !== undefined) throw wrong("status.podIPs", `has ${JSON.stringify(unread.text)}`, "report an address");
    return { ...who, labels, ports, addresses: addresses.flatMap(({ address }) => address ?? []) };
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const readable = addresses.flatMap(({ address }) => address ?? []);
    return { ...who, labels: new Map(), ports: [], addresses: readable, problem: problemOf(`${error.message}: ${error.remedy}`) };
  }
}

/** Reads a namespace (core/v1) and never throws. */
export function parseNamespace(object: KubeObject): NamespaceFacts {
  const { name } = object.metadata;
  try {
    return { name, labels: readLabels(object.metadata.labels, "metadata.labels") };
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const message = `${error.message}: ${error.remedy}`;
    return {
      name,
      labels: undefined,
      problem: { kind: "Namespace", namespace: "", name, message, effect: "no namespaceSelector selects it" },
    };
  }
}

interface StatusOfPod {
  readonly phase?: unknown;
  readonly podIP?: unknown;
  readonly podIPs?: unknown;
}

/** The addresses that a pod has of its own, as its status says them. */
function addressesOf(object: KubeObject): readonly { readonly text: unknown; readonly address: Address | undefined }[] {
  const { spec, status } = object as { readonly spec?: { readonly hostNetwork?: unknown } | null; readonly status?: StatusOfPod | null };
  if (spec?.hostNetwork === true || status?.phase === "Succeeded" || status?.phase === "Failed") return [];
  const { podIP, podIPs } = status ?? {};
  const listed = Array.isArray(podIPs) ? podIPs.map((each) => (each as { readonly ip?: unknown } | null)?.ip) : [];
  const texts = [...new Set([podIP, ...listed])].filter((text) => text !== undefined && text !== null && text !== "");
  return texts.map((text) => ({ text, address: typeof text === "string" ? parseAddress(text) : undefined }));
}

/** Named ports of the containers that run as long as the pod does: sidecars are init containers that are always restarted. */
function portsOf(spec: Readonly<Record<string, unknown>>): readonly ContainerPort[] {
  const sidecars = readList(spec["initContainers"], "spec.initContainers")
    .map((each, at) => readObject(each, `spec.initContainers[${at}]`))
    .filter(({ restartPolicy }) => restartPolicy === "Always");
  const containers = readList(spec["containers"], "spec.containers").map((each, at) => readObject(each, `spec.containers[${at}]`));
  return [...containers, ...sidecars].flatMap((container) => {
    const path = `spec.containers[${String(container["name"])}].ports`;
    return readList(container["ports"], path).flatMap((value, at) => {
      const { name, protocol, containerPort } = readObject(value, `${path}[${at}]`);
      if (typeof name !== "string" || name === "") return [];
      const port = readPortNumber(containerPort, `${path}[${at}].containerPort`);
      return [{ name, port, protocol: readOneOf(protocol ?? "TCP", `${path}[${at}].protocol`, PROTOCOLS) }];
    });
  });
}
