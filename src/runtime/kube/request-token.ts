import type { KubeClient } from "./client.ts";
import { type ObjectName, type ResourceType, resourcePath } from "./resource.ts";

const ACCOUNTS: ResourceType = { group: "", version: "v1", plural: "serviceaccounts", kind: "ServiceAccount", namespaced: true };

/** What API servers may take for a request of a kubelet, whose token they then let live for a year; in seconds. */
const OF_KUBELETS = 3607;

/**
 * Asks an API server for a token of a ServiceAccount that ends after so long, or sooner if the server likes. The answer is as it came.
 * `GoneError` when there is no such account.
 */
export function requestToken(client: KubeClient, at: ObjectName, lifeMs: number, signal: AbortSignal): Promise<unknown> {
  const seconds = Math.floor(lifeMs / 1000);
  const body = {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    metadata: {},
    spec: { expirationSeconds: seconds === OF_KUBELETS ? seconds - 1 : seconds },
  };
  return client.request({ method: "POST", path: resourcePath(ACCOUNTS, { ...at, subresource: "token" }), body }, signal);
}
