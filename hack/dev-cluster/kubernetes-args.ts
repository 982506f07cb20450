import { join } from "node:path";
import type { Pki } from "./pki.ts";

export type KubernetesComponent = "etcd" | "kube-apiserver" | "kube-controller-manager" | "kube-scheduler";

export interface KubernetesPorts {
  readonly etcd: number;
  readonly etcdPeer: number;
  readonly api: number;
}

interface Setting {
  readonly ports: KubernetesPorts;
  readonly pki: Pki;
  readonly directory: string;
  /** This machine's address on the network of real nodes; absent where pods are processes of this machine. */
  readonly nodesReachAt: string | undefined;
}

/** Arguments of a cluster with one process for each component, on loopback or on the network of its nodes, without a cloud. */
export function componentArgs(component: KubernetesComponent, setting: Setting): readonly string[] {
  switch (component) {
    case "etcd":
      return etcdArgs(setting);
    case "kube-apiserver":
      return apiServerArgs(setting);
    case "kube-controller-manager":
      return controllerManagerArgs(setting);
    case "kube-scheduler":
      return [
        "--kubeconfig",
        join(setting.directory, "etc", "scheduler.kubeconfig"),
        ...clientLimits,
        "--leader-elect=false",
        "--secure-port=0",
      ];
  }
}

/** With the defaults (20 to 50 requests per second) these two would be the slowest part of every test. */
const clientLimits = ["--kube-api-qps=200", "--kube-api-burst=400"];

/** Controllers that have nothing to do without a cloud. */
const unneededControllers = [
  "node-ipam-controller",
  "node-route-controller",
  "cloud-node-lifecycle-controller",
  "service-lb-controller",
  "device-taint-eviction-controller",
  "persistentvolume-expander-controller",
  "horizontal-pod-autoscaler-controller",
  "certificatesigningrequest-approving-controller",
  "certificatesigningrequest-cleaner-controller",
  "certificatesigningrequest-signing-controller",
  "storage-version-migrator-controller",
];

/**
 * Controllers that have nothing to do where pods are processes. Node-lifecycle is off because the node's program reports its own
 * state, and the node may be stopped for a while without its pods being evicted.
 */
const neededByRealNodes = [
  "node-lifecycle-controller",
  "taint-eviction-controller",
  // Pods have loopback addresses there, which these two refuse to write.
  "endpoints-controller",
  "endpointslice-controller",
  "persistentvolume-attach-detach-controller",
  "persistentvolume-binder-controller",
];

function etcdArgs({ ports, directory }: Setting): readonly string[] {
  const [client, peer] = [`http://127.0.0.1:${ports.etcd}`, `http://127.0.0.1:${ports.etcdPeer}`];
  return [
    ...["--data-dir", join(directory, "etcd")],
    ...["--listen-client-urls", client, "--advertise-client-urls", client],
    ...["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", `default=${peer}`],
    // Survives a crash of any process, but not of the machine.
    "--unsafe-no-fsync",
    "--log-level=warn",
  ];
}

function apiServerArgs({ ports, pki, nodesReachAt }: Setting): readonly string[] {
  return [
    `--etcd-servers=http://127.0.0.1:${ports.etcd}`,
    ...(nodesReachAt === undefined ? loopbackOnly : realNodes(pki, nodesReachAt)),
    `--secure-port=${ports.api}`,
    `--tls-cert-file=${pki.path("server.crt")}`,
    `--tls-private-key-file=${pki.path("server.key")}`,
    `--client-ca-file=${pki.path("ca.crt")}`,
    "--service-account-issuer=https://kubernetes.default.svc",
    `--service-account-key-file=${pki.path("service-account.pub")}`,
    `--service-account-signing-key-file=${pki.path("service-account.key")}`,
    "--service-cluster-ip-range=10.96.0.0/16",
    "--profiling=false",
  ];
}

const loopbackOnly = [
  "--bind-address=127.0.0.1",
  "--authorization-mode=RBAC",
  // Its own address is a loopback one, which must not become an endpoint.
  "--endpoint-reconciler-type=none",
];

/** The API server speaks to kubelets as the administrator does, at their addresses: their names are known to no name server. */
function realNodes(pki: Pki, address: string): readonly string[] {
  return [
    `--bind-address=${address}`,
    `--advertise-address=${address}`,
    "--authorization-mode=Node,RBAC",
    "--allow-privileged=true",
    `--kubelet-client-certificate=${pki.path("admin.crt")}`,
    `--kubelet-client-key=${pki.path("admin.key")}`,
    "--kubelet-preferred-address-types=InternalIP",
  ];
}

function controllerManagerArgs({ pki, directory, nodesReachAt }: Setting): readonly string[] {
  const unneeded = nodesReachAt === undefined ? [...unneededControllers, ...neededByRealNodes] : unneededControllers;
  return [
    ...["--kubeconfig", join(directory, "etc", "controllerManager.kubeconfig")],
    ...clientLimits,
    "--leader-elect=false",
    "--secure-port=0",
    `--controllers=*,${unneeded.map((name) => `-${name}`).join(",")}`,
    `--root-ca-file=${pki.path("ca.crt")}`,
    `--service-account-private-key-file=${pki.path("service-account.key")}`,
    // Without it all controllers share one user, which no role allows anything.
    "--use-service-account-credentials=true",
  ];
}
