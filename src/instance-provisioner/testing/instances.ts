import { millis } from "../../domain/clock.ts";
import type { FleetSpec, PoolSpec } from "../../domain/fleet.ts";
import type { InstanceId } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
import { asLoadVector } from "../../domain/load.ts";

export const CAPACITY = asLoadVector({
  applications: 1_000_000,
  clusterEntries: 60,
  cachedResources: 250_000,
  milliCpu: 2000,
  gitPerMinute: 600_000,
});

export function anInstance(changes: Partial<Instance> = {}): Instance {
  return {
    ...{
      id: "00000000-0000-7000-8000-000000000001" as InstanceId,
      name: "standard-1",
      engineCluster: "eu-1",
      namespace: "argosy-standard-1",
    },
    ...{ pool: "standard", class: "eu/shared/public", version: "3.5.7", desiredVersion: "3.5.7", state: "REQUESTED" },
    ...{
      stateSince: millis(0),
      reason: "",
      attempt: 0,
      capacity: CAPACITY,
      weight: 1,
      appliedHash: "",
      cause: undefined,
      halt: "none",
      failsOver: false,
      entries: "shared",
      revision: 1,
    },
    ...changes,
  };
}

export function aPool(changes: Partial<PoolSpec> = {}): PoolSpec {
  return {
    name: "standard",
    class: { region: "eu", tier: "shared", trust: "public" },
    engineClusters: ["eu-1"],
    instances: { min: 2, max: 4 },
    version: undefined,
    capacity: CAPACITY,
    resources: {
      controller: { cpu: "2", memory: "4Gi" },
      repoServer: { cpu: "1", memory: "1Gi", replicas: 1 },
      redis: { cpu: "250m", memory: "256Mi" },
    },
    engine: {
      ...{ statusProcessors: 20, operationProcessors: 10, k8sClientQps: 200, k8sClientBurst: 400 },
      ...{ reconciliationSeconds: 120, reconciliationJitterSeconds: 60 },
    },
    ...changes,
  };
}

export function aFleet(changes: Partial<FleetSpec> = {}): FleetSpec {
  const release = (version: string) => ({
    version,
    image: `images.example/argocd:v${version}`,
    redisImage: "images.example/redis:8.2.3",
    crds: `/crds/${version}`,
  });
  return {
    engineClusters: [{ name: "eu-1", region: "eu", access: { kind: "inCluster" } }],
    versions: { default: "3.5.7", floor: "3.5.1", catalogue: [release("3.5.6"), release("3.5.7")] },
    pools: [aPool()],
    workspaces: { selector: {}, everyNamespace: true, quota: { deployments: 100, syncsPerMinute: 20 } },
    deployments: { allowedGroups: [] },
    egress: { allow: [], http: [] },
    ...changes,
  };
}
