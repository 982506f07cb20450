import { join } from "node:path";
import { renderKubeconfig } from "../kubeconfig.ts";
import type { Pki } from "../pki.ts";
import { CLUSTER_DOMAIN, type ClusterNetwork, DNS_SERVICE, type NodeNetwork, podRange } from "./network-plan.ts";

/** What the files of a node are written from. */
export interface NodeSetting {
  readonly cluster: ClusterNetwork;
  readonly node: NodeNetwork;
  /** Folder of the node: images, volumes, logs. */
  readonly directory: string;
  /** Short-lived files and sockets. */
  readonly runDirectory: string;
  /** The API server's URL, as the node reaches it. */
  readonly server: string;
  readonly pki: Pick<Pki, "ca" | "path" | "issueClient">;
  /** The image of the container that holds a pod's network. */
  readonly pauseImage: string;
}

/** Where containerd mounts the network of each pod, by a name that says nothing. */
export const podNetworksOf = ({ runDirectory }: Pick<NodeSetting, "runDirectory">): string =>
  join(runDirectory, "state", "io.containerd.grpc.v1.cri", "netns");

export const socketOf = ({ runDirectory }: Pick<NodeSetting, "runDirectory">): string => join(runDirectory, "containerd.sock");

/** The control group of a node's pods, the same in every hierarchy. */
export const controlGroupOf = ({ node }: Pick<NodeSetting, "node">): string => node.namespace;

/** Every file of a node by its path below `directory`. */
export function renderNodeFiles(setting: NodeSetting): Readonly<Record<string, string>> {
  const { server, pki, node } = setting;
  const kubeconfig = (commonName: string, organizations: readonly string[] = []): string =>
    renderKubeconfig({ name: node.name, server, ca: pki.ca, certificate: pki.issueClient({ commonName, organizations }) });
  return {
    "etc/containerd.toml": containerdConfig(setting),
    "etc/cni/10-argosy.conflist": json(cniConfig(setting)),
    "etc/kubelet.json": json(kubeletConfig(setting)),
    "etc/kubelet.kubeconfig": kubeconfig(`system:node:${node.name}`, ["system:nodes"]),
    "etc/kube-proxy.json": json(kubeProxyConfig(setting)),
    "etc/kube-proxy.kubeconfig": kubeconfig("system:kube-proxy"),
    // Pods with `dnsPolicy: Default` get it. No name server of this machine can be reached from there.
    "etc/resolv.conf": `nameserver ${DNS_SERVICE}\n`,
  };
}

function json(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

function containerdConfig(setting: NodeSetting): string {
  const { directory, runDirectory, pauseImage } = setting;
  const text = JSON.stringify;
  return [
    "version = 2",
    `root = ${text(join(directory, "containerd"))}`,
    `state = ${text(join(runDirectory, "state"))}`,
    // Of these only the socket below is used, and their usual places may belong to a containerd of this machine.
    "[debug]",
    `  address = ""`,
    "[grpc]",
    `  address = ${text(socketOf(setting))}`,
    `[plugins."io.containerd.internal.v1.opt"]`,
    `  path = ${text(join(directory, "opt"))}`,
    `[plugins."io.containerd.grpc.v1.cri"]`,
    `  sandbox_image = ${text(pauseImage)}`,
    "  disable_tcp_service = true",
    // Without CAP_SYS_RESOURCE runc cannot lower a score, and gives up with "can't get final child's PID from pipe".
    "  restrict_oom_score_adj = true",
    // The networks of pods are mounts below `state`. So they are gone with the node, also one that was just being made when it was killed.
    "  netns_mounts_under_state_dir = true",
    `  [plugins."io.containerd.grpc.v1.cri".cni]`,
    `    bin_dir = "/usr/lib/cni"`,
    `    conf_dir = ${text(join(directory, "etc", "cni"))}`,
    `  [plugins."io.containerd.grpc.v1.cri".containerd]`,
    `    default_runtime_name = "runc"`,
    `  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]`,
    `    runtime_type = "io.containerd.runc.v2"`,
    `    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]`,
    "      SystemdCgroup = false",
    "",
  ].join("\n");
}

/** Each pod has a link of its own and a route, not a port of a bridge: so every packet between pods passes the node's packet filter. */
function cniConfig({ node, directory }: NodeSetting): unknown {
  const ipam = { type: "host-local", ranges: [[{ subnet: node.pods }]], routes: [{ dst: "0.0.0.0/0" }], dataDir: join(directory, "cni") };
  return {
    cniVersion: "0.4.0",
    name: "argosy",
    plugins: [
      { type: "ptp", ipMasq: false, ipam },
      { type: "portmap", capabilities: { portMappings: true } },
    ],
  };
}

function kubeletConfig(setting: NodeSetting): unknown {
  const { pki, node, directory } = setting;
  return {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    address: node.address,
    port: 10_250,
    healthzPort: 0,
    authentication: { anonymous: { enabled: false }, webhook: { enabled: true }, x509: { clientCAFile: pki.path("ca.crt") } },
    authorization: { mode: "Webhook" },
    containerRuntimeEndpoint: `unix://${socketOf(setting)}`,
    cgroupDriver: "cgroupfs",
    cgroupRoot: `/${controlGroupOf(setting)}`,
    failCgroupV1: false,
    failSwapOn: false,
    clusterDNS: [DNS_SERVICE],
    clusterDomain: CLUSTER_DOMAIN,
    resolvConf: join(directory, "etc", "resolv.conf"),
    podLogsDir: join(directory, "logs"),
    volumePluginDir: join(directory, "volume-plugins"),
    // Images that were built here cannot be had again by pulling them.
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
    evictionHard: { "memory.available": "64Mi", "nodefs.available": "1%", "imagefs.available": "1%", "nodefs.inodesFree": "1%" },
    nodeStatusUpdateFrequency: "5s",
    nodeLeaseDurationSeconds: 20,
    serializeImagePulls: false,
    kubeAPIQPS: 200,
    kubeAPIBurst: 400,
    registryPullQPS: 0,
    eventRecordQPS: 0,
  };
}

function kubeProxyConfig({ cluster, node, directory }: NodeSetting): unknown {
  return {
    apiVersion: "kubeproxy.config.k8s.io/v1alpha1",
    kind: "KubeProxyConfiguration",
    mode: "iptables",
    hostnameOverride: node.name,
    bindAddress: node.address,
    healthzBindAddress: "",
    metricsBindAddress: "127.0.0.1:10249",
    clusterCIDR: podRange(cluster),
    clientConnection: { kubeconfig: join(directory, "etc", "kube-proxy.kubeconfig") },
    // Their values are those of the whole machine, which a network namespace may not change.
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: "0s", tcpCloseWaitTimeout: "0s" },
  };
}
