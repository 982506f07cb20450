import type { InstanceId } from "../../domain/ids.ts";
import type { ManifestParameters } from "../manifests/parameters.ts";

/** Manifest parameters of an ordinary instance, with secrets that anybody may read. */
export function someParameters(version = "3.5.7"): ManifestParameters {
  return {
    instance: {
      id: "00000000-0000-7000-8000-000000000001" as InstanceId,
      name: "standard-1",
      namespace: "argosy-standard-1",
      pool: "standard",
      class: "eu/shared/public",
    },
    release: { version, image: `images.example/argocd:v${version}`, redisImage: "images.example/redis:8.2.3-alpine" },
    resources: {
      controller: { cpu: "2", memory: "4Gi" },
      repoServer: { cpu: "1", memory: "1Gi", replicas: 1 },
      redis: { cpu: "250m", memory: "256Mi" },
    },
    engine: {
      statusProcessors: 20,
      operationProcessors: 10,
      k8sClientQps: 200,
      k8sClientBurst: 400,
      reconciliationSeconds: 120,
      reconciliationJitterSeconds: 60,
    },
    egressAllow: ["10.1.0.0/16"],
    apiServers: ["10.0.0.1/32"],
    systemNamespace: "argosy-system",
    secrets: {
      serverSecretKey: "server-secret-key",
      redisPassword: "redis-password",
      certificates: {
        authorities: "authority",
        server: { certificate: "server certificate", key: "server key" },
        client: { certificate: "client certificate", key: "client key" },
      },
    },
  };
}
