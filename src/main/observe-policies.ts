import { isIPv6 } from "node:net";
import { connect } from "node:tls";
import type { PoliciesFound } from "../api/doctor/checks.ts";
import type { EngineClusterSpec } from "../domain/fleet.ts";
import type { Instance } from "../domain/instance.ts";
import { asArray, asObject, asString } from "../domain/json.ts";
import { PORTS, REPO_SERVER } from "../instance-provisioner/manifests/names.ts";
import type { KubeClient } from "../runtime/kube/client.ts";

/** Instances of a cluster that are tried: where one's policies are not enforced, nobody's are. */
const TRIED = 3;
/** A connection within a cluster takes milliseconds, and is tried again by the kernel after a second. In ms. */
const CONNECT_MS = 2_500;
const ANSWER_MS = 3_000;

interface PoliciesToObserve {
  readonly cluster: EngineClusterSpec;
  readonly instances: readonly Pick<Instance, "engineCluster" | "namespace" | "state">[];
  /** Whether this process is a pod of the cluster with users' resources. */
  readonly isInApiCluster: boolean;
  readonly client: (signal: AbortSignal) => Promise<KubeClient>;
}

/**
 * Tries a connection that the policies of instances refuse to everybody but their own controller: to the port of a repo-server that renders
 * manifests, which speaks TLS. That it is refused says something only because the same process listens there, as it says itself at the next port
 * of the same address, which this process may reach. Needs the right to list pods, which this process has there to read metrics.
 */
export async function observePolicies(
  { cluster, instances, isInApiCluster, client }: PoliciesToObserve,
  signal: AbortSignal,
): Promise<PoliciesFound> {
  const { name, access, reach } = cluster;
  const unseen = (why: string): PoliciesFound => ({ cluster: name, unseen: why });
  if (access.kind !== "inCluster" || !isInApiCluster || reach === "proxy") return unseen("this process is no pod of it");
  const namespaces = instances.filter(({ engineCluster, state }) => engineCluster === name && state === "ACTIVE").slice(0, TRIED);
  if (namespaces.length === 0) return unseen("it has no instance that works");
  try {
    const reached = await client(signal);
    const tried = await Promise.all(namespaces.map(({ namespace }) => tryInstance(reached, namespace, signal)));
    const open = tried.find(({ outcome }) => outcome === "open");
    const closed = tried.find(({ outcome }) => outcome === "closed");
    const { outcome, at } = open ?? closed ?? { outcome: undefined, at: "" };
    return outcome === undefined ? unseen("no repo-server of its instances says here that it works") : { cluster: name, outcome, at };
  } catch {
    return unseen("its pods cannot be listed");
  }
}

interface Tried {
  /** Absent: nothing can be told from it. */
  readonly outcome?: "open" | "closed";
  readonly at: string;
}

async function tryInstance(client: KubeClient, namespace: string, signal: AbortSignal): Promise<Tried> {
  const path = `/api/v1/namespaces/${namespace}/pods`;
  const query = { labelSelector: `app.kubernetes.io/name=${REPO_SERVER}`, limit: 10 };
  const found = asArray(asObject(await client.request({ method: "GET", path, query }, signal))["items"]);
  const [pod] = found.flatMap((one) => podOf(one) ?? []);
  if (pod === undefined) return { at: namespace };
  const at = `${namespace}/${pod.name}`;
  const heard = await tryConnection(pod.address, PORTS.repoServer, signal);
  if (heard === "answered") return { outcome: "open", at };
  // Who took the connection and does not answer is no repo-server: a proxy beside this process takes every connection.
  if (heard === "connected") return { at };
  return (await saysItListens(pod.address, signal)) ? { outcome: "closed", at } : { at };
}

function podOf(pod: unknown): { readonly name: string; readonly address: string } | undefined {
  const { metadata, status } = asObject(pod);
  const { name, deletionTimestamp } = asObject(metadata);
  const { podIP, conditions } = asObject(status);
  const isReady = asArray(conditions).some((one) => asObject(one)["type"] === "Ready" && asObject(one)["status"] === "True");
  const address = asString(podIP);
  return address === "" || !isReady || deletionTimestamp !== undefined ? undefined : { name: asString(name), address };
}

/** How far a TLS connection gets in time. Nothing is sent through it, so it does not matter who is at the other end. */
function tryConnection(host: string, port: number, signal: AbortSignal): Promise<"refused" | "connected" | "answered"> {
  return new Promise((resolve) => {
    let heard: "refused" | "connected" | "answered" = "refused";
    const limited = AbortSignal.any([signal, AbortSignal.timeout(CONNECT_MS)]);
    const socket = connect({ host, port, rejectUnauthorized: false });
    const end = (): void => {
      socket.destroy();
      resolve(heard);
    };
    socket.once("connect", () => {
      heard = "connected";
    });
    socket.once("secureConnect", () => {
      heard = "answered";
      end();
    });
    socket.on("error", end);
    socket.once("close", end);
    if (limited.aborted) end();
    limited.addEventListener("abort", end, { once: true });
  });
}

/** A repo-server answers this only after it has spoken to itself at the port that renders manifests. */
async function saysItListens(address: string, signal: AbortSignal): Promise<boolean> {
  const host = isIPv6(address) ? `[${address}]` : address;
  try {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]);
    const answer = await fetch(`http://${host}:${PORTS.repoServerMetrics}/healthz?full=true`, { signal: limited, redirect: "error" });
    await answer.body?.cancel();
    return answer.status === 200;
  } catch {
    return false;
  }
}
