import { FILTER_PORT, filterAddress } from "../../domain/filter-address.ts";
import type { Container, Volume } from "./kubernetes-types.ts";
import { FILTER, PORTS, REPO_SERVER_TLS } from "./names.ts";
import type { ManifestIdentity } from "./object.ts";
import type { FilterParameters } from "./parameters.ts";
import { httpProbe } from "./pods.ts";

/** What the filter may take. It holds one object at a time, so this does not grow with the cluster (`npm run bench -- instance-cache`). */
export const FILTER_RESOURCES = { cpu: "1", memory: "128Mi" };

/** A small young generation: what streams through is garbage at once, and memory that was taken for it is not given back. */
const NODE_OPTIONS = "--max-semi-space-size=1 --max-old-space-size=64";

/**
 * The container through which a controller reads the API cluster. It passes for the API server by the certificate that repo-server has, which the
 * controller does not check: on the loopback of the pod there is nobody else. Its health page is on the pod's address, where the kubelet asks.
 */
export function renderFilter(
  instance: ManifestIdentity,
  { image, server, caData }: FilterParameters,
): { readonly container: Container; readonly volume: Volume } {
  const probe = (times: Parameters<typeof httpProbe>[2]) => httpProbe("/healthz", PORTS.filterHealth, times);
  return {
    container: {
      name: FILTER,
      image,
      args: [
        "filter",
        ...["--server", server],
        ...(caData === "" ? [] : ["--server-ca", caData]),
        ...["--namespace", instance.namespace],
        ...["--listen", `${filterAddress(instance.id)}:${FILTER_PORT}`],
        ...["--health", `$(POD_IP):${PORTS.filterHealth}`],
        ...["--tls-certificate", `${TLS}/tls.crt`, "--tls-key", `${TLS}/tls.key`],
      ],
      env: [
        { name: "POD_IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
        { name: "NODE_OPTIONS", value: NODE_OPTIONS },
        // Threads of the runtime would each keep an arena of memory of their own.
        { name: "MALLOC_ARENA_MAX", value: "1" },
      ],
      ports: [{ name: "filter-health", containerPort: PORTS.filterHealth }],
      readinessProbe: probe({ periodSeconds: 10 }),
      livenessProbe: probe({ initialDelaySeconds: 30, periodSeconds: 30, failureThreshold: 3, timeoutSeconds: 5 }),
      resources: {
        requests: { cpu: "50m", memory: FILTER_RESOURCES.memory, "ephemeral-storage": "0" },
        limits: { ...FILTER_RESOURCES, "ephemeral-storage": "1Gi" },
      },
      volumeMounts: [{ name: VOLUME, mountPath: TLS }],
    },
    volume: {
      name: VOLUME,
      secret: { secretName: REPO_SERVER_TLS, optional: true, items: ["tls.crt", "tls.key"].map((key) => ({ key, path: key })) },
    },
  };
}

const VOLUME = "cluster-filter-tls";
const TLS = "/tls";
