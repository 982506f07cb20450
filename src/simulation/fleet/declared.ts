import { millis } from "../../domain/clock.ts";
import type { Decision } from "../../domain/decision.ts";
import { classOf, type FleetSpec, type PoolSpec } from "../../domain/fleet.ts";
import type { InstanceId } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
import { asLoadVector } from "../../domain/load.ts";
import { CLASS_LABELS } from "../../domain/names.ts";

export const ENGINE_CLUSTER = "engine";
/** An engine cluster from which scenarios may cut Argosy off while its instances go on. */
export const FAR_CLUSTER = "far-engine";
const VERSION = "3.5.7";

const POOL: PoolSpec = {
  name: "standard",
  class: { region: "eu", tier: "shared", trust: "public" },
  engineClusters: [ENGINE_CLUSTER],
  instances: { min: 1, max: 50 },
  version: undefined,
  capacity: asLoadVector({
    applications: 1_000_000,
    clusterEntries: 1_000_000,
    cachedResources: 1_000_000_000,
    milliCpu: 1_000_000_000,
    gitPerMinute: 1_000_000_000,
  }),
  resources: {
    controller: { cpu: "1", memory: "1Gi" },
    repoServer: { cpu: "1", memory: "1Gi", replicas: 1 },
    redis: { cpu: "1", memory: "1Gi" },
  },
  engine: {
    ...{ statusProcessors: 20, operationProcessors: 10, k8sClientQps: 50, k8sClientBurst: 100 },
    ...{ reconciliationSeconds: 120, reconciliationJitterSeconds: 60 },
  },
};

/** A pool of another class, for workspaces whose namespace asks for it. */
const TRUSTED_POOL: PoolSpec = { ...POOL, name: "trusted", class: { ...POOL.class, trust: "internal" } };

/** What a namespace is labelled with to have each class; without the label it keeps the one it has. */
export const CLASS_LABEL = `${CLASS_LABELS}trust`;
export const CLASS_BY_LABEL: Readonly<Record<string, string>> = { public: classOf(POOL), internal: classOf(TRUSTED_POOL) };

/** What `argosy apply` declared before the simulation began. */
export const DECLARED_FLEET: FleetSpec = {
  engineClusters: [ENGINE_CLUSTER, FAR_CLUSTER].map((name) => ({ name, region: "eu", access: { kind: "inCluster" } })),
  versions: { default: VERSION, floor: "3.5.1", catalogue: [] },
  pools: [POOL],
  workspaces: { selector: {}, everyNamespace: true, quota: { deployments: 100, syncsPerMinute: 60 } },
  egress: { allow: [], http: [] },
  deployments: { allowedGroups: [] },
};

/** The same with a second class, and with rules by which labels ask for either. */
export const FLEET_OF_CLASSES: FleetSpec = {
  ...DECLARED_FLEET,
  pools: [POOL, TRUSTED_POOL],
  workspaces: {
    ...DECLARED_FLEET.workspaces,
    classes: Object.entries(CLASS_BY_LABEL).map(([value, name]) => ({ labels: { [CLASS_LABEL]: value }, class: name })),
  },
};

export const DECLARED: Decision = { at: millis(0), subject: "fleet", kind: "fleet", verdict: "APPLIED", rule: "DECLARED", details: {} };

/** An instance that exists already: its creation is not simulated. */
export function standingInstance(index: number, engineCluster: string, isTrusted = false): Instance {
  const pool = isTrusted ? TRUSTED_POOL : POOL;
  const name = `${pool.name}-${index}`;
  return {
    id: `00000000-0000-7000-8000-${String(index).padStart(12, "0")}` as InstanceId,
    ...{ name, engineCluster, namespace: `argosy-${name}`, pool: pool.name, class: classOf(pool) },
    ...{ version: VERSION, desiredVersion: VERSION, state: "ACTIVE", stateSince: millis(0), reason: "", attempt: 0 },
    ...{
      capacity: POOL.capacity,
      weight: 1,
      appliedHash: "",
      cause: undefined,
      halt: "none",
      failsOver: false,
      entries: "shared",
      revision: 1,
    },
  };
}
