import { RefusedError } from "../../domain/errors.ts";
import { asArray, asObject, asString } from "../../domain/json.ts";
import type { KubeClient } from "../../runtime/kube/client.ts";
import type { EncryptionFound } from "./checks.ts";

/** How kubeadm and what is made like it label the pods of API servers. */
const SELECTOR = "component=kube-apiserver";
/** More than a cluster has API servers. */
const LIMIT = 100;

/**
 * Whether a cluster's API servers are given a configuration by which they encrypt what they keep in etcd. No API says so: where they run as pods
 * that the client may list, their arguments do.
 */
export async function readEncryption(client: KubeClient, signal: AbortSignal): Promise<EncryptionFound> {
  const { cluster } = client;
  const query = { labelSelector: SELECTOR, limit: LIMIT };
  try {
    const found = await client.request({ method: "GET", path: "/api/v1/namespaces/kube-system/pods", query }, signal);
    const pods = asArray(asObject(found)["items"]).map((pod) => ({
      name: asString(asObject(asObject(pod)["metadata"])["name"]),
      isGiven: isGivenConfiguration(argumentsOf(pod)),
    }));
    if (pods.length === 0) return { cluster, unseen: "its API servers are no pods of kube-system" };
    return { cluster, servers: pods.length, without: pods.filter(({ isGiven }) => !isGiven).map(({ name }) => name) };
  } catch (error) {
    if (error instanceof RefusedError) return { cluster, unseen: "this account may not list pods of kube-system" };
    return { cluster, unseen: "it does not answer" };
  }
}

/** Of all containers; a command may stand in one text for a shell. */
function argumentsOf(pod: unknown): readonly string[] {
  return asArray(asObject(asObject(pod)["spec"])["containers"]).flatMap((container) => {
    const { command, args } = asObject(container);
    return [...asArray(command), ...asArray(args)].flatMap((text) => asString(text).split(/\s+/));
  });
}

const FLAG = "--encryption-provider-config";

/** The flag with a value, in the same argument or the next one. */
export function isGivenConfiguration(args: readonly string[]): boolean {
  return args.some((arg, index) => {
    if (arg.startsWith(`${FLAG}=`)) return arg.length > FLAG.length + 1;
    const next = args[index + 1] ?? "";
    return arg === FLAG && next !== "" && !next.startsWith("-");
  });
}
