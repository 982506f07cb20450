import type { LoadVector } from "./load.ts";

/** What `fleet.yaml` declares, parsed and with every default filled in (design: instances). */
export interface FleetSpec {
  readonly engineClusters: readonly EngineClusterSpec[];
  readonly versions: VersionsSpec;
  readonly pools: readonly PoolSpec[];
  readonly workspaces: WorkspacesSpec;
  readonly egress: EgressSpec;
}

export interface EngineClusterSpec {
  readonly name: string;
  readonly region: string;
  /** Exactly one of the two: the cluster Argosy itself runs in, or a Secret `namespace/name` with key `kubeconfig`. */
  readonly access: { readonly kind: "inCluster" } | { readonly kind: "secret"; readonly secret: string };
}

export interface CatalogueEntry {
  readonly version: string;
  readonly image: string;
  readonly redisImage: string;
  /** Directory that holds the release's `application-crd.yaml` and `appproject-crd.yaml`. */
  readonly crds: string;
}

export interface VersionsSpec {
  readonly default: string;
  readonly floor: string;
  readonly catalogue: readonly CatalogueEntry[];
}

export interface ComponentResources {
  readonly cpu: string;
  readonly memory: string;
}

export interface PoolSpec {
  readonly name: string;
  readonly class: { readonly region: string; readonly tier: string; readonly trust: string };
  readonly engineClusters: readonly string[];
  readonly instances: { readonly min: number; readonly max: number };
  readonly version: string | undefined;
  readonly capacity: LoadVector;
  readonly resources: {
    readonly controller: ComponentResources;
    readonly repoServer: ComponentResources & { readonly replicas: number };
    readonly redis: ComponentResources;
  };
  /** Settings of the engine that differ from the generator's defaults. */
  readonly engine: EngineSettings;
}

export interface EngineSettings {
  readonly statusProcessors: number;
  readonly operationProcessors: number;
  readonly k8sClientQps: number;
  readonly k8sClientBurst: number;
  /** Seconds between two comparisons of an application nothing happened to, and the largest random delay added. */
  readonly reconciliationSeconds: number;
  readonly reconciliationJitterSeconds: number;
}

export interface WorkspacesSpec {
  /** Labels a namespace must carry to be a workspace; empty: every namespace but kube-*, Argosy's own and instances'. */
  readonly selector: Readonly<Record<string, string>>;
  readonly quota: { readonly deployments: number; readonly syncsPerMinute: number };
}

export interface EgressSpec {
  /** Address ranges (CIDR) that may be reached although they are private, loopback or link-local. */
  readonly allow: readonly string[];
  /** Hosts whose repositories may be read over plain HTTP. */
  readonly http: readonly string[];
}

/** The class key of a pool: units and instances meet only within one. */
export function classOf(pool: Pick<PoolSpec, "class">): string {
  return `${pool.class.region}/${pool.class.tier}/${pool.class.trust}`;
}
