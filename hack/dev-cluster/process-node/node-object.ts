import { arch } from "node:os";
import type { KubeClient } from "../../../src/runtime/kube/client.ts";
import type { KubeObject } from "../../../src/runtime/kube/resource.ts";
import { nodeType } from "./pod.ts";

interface NodeObject extends KubeObject {
  readonly spec?: { readonly taints?: readonly { readonly key: string }[] };
}

/** More than any test requests, because scheduling by size is not tested here. */
const capacity = { cpu: "1000", memory: "4Ti", pods: "5000", "ephemeral-storage": "4Ti" };

/**
 * Creates the Node, or takes over the one of that name, and reports it ready. A new node has a taint that keeps pods
 * away until it is removed.
 */
export async function registerNode(client: KubeClient, name: string, signal: AbortSignal): Promise<void> {
  const labels = { "kubernetes.io/os": "linux", "kubernetes.io/arch": arch() === "x64" ? "amd64" : arch(), "kubernetes.io/hostname": name };
  const node = await client.apply<NodeObject>(
    nodeType,
    { apiVersion: "v1", kind: "Node", metadata: { name, labels } },
    { fieldManager: "process-node" },
    signal,
  );
  if ((node.spec?.taints ?? []).length > 0) await client.mergePatch(nodeType, { namespace: "", name }, { spec: { taints: [] } }, signal);
  await client.mergePatch(nodeType, { namespace: "", name, subresource: "status" }, { status: nodeStatus(name) }, signal);
}

function nodeStatus(name: string): object {
  const now = new Date().toISOString();
  const architecture = arch() === "x64" ? "amd64" : arch();
  const unknown = {
    machineID: "",
    systemUUID: "",
    bootID: "",
    kernelVersion: "",
    osImage: "local processes",
    containerRuntimeVersion: "process://1",
    kubeProxyVersion: "",
  };
  return {
    capacity,
    allocatable: capacity,
    addresses: [
      { type: "InternalIP", address: "127.0.0.1" },
      { type: "Hostname", address: name },
    ],
    conditions: [
      {
        type: "Ready",
        status: "True",
        reason: "KubeletReady",
        message: "processes can be started",
        lastHeartbeatTime: now,
        lastTransitionTime: now,
      },
    ],
    nodeInfo: { ...unknown, architecture, operatingSystem: "linux", kubeletVersion: "v1.35.0" },
  };
}
