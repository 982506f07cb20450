import type { GroupRule } from "./groups.ts";
import type { Entries } from "./instance.ts";
import type { LoadVector } from "./load.ts";
import type { Peak } from "./peaks.ts";
import type { ClassQuota, DeclaredQuota } from "./quota.ts";

/** What `fleet.yaml` declares, parsed and with every default filled in (design: instances). */
export interface FleetSpec {
  readonly engineClusters: readonly EngineClusterSpec[];
  readonly versions: VersionsSpec;
  readonly pools: readonly PoolSpec[];
  readonly workspaces: WorkspacesSpec;
  /** By class; what is not listed is proposed and waits for a person. Absent: so are all. */
  readonly rebalancing?: readonly RebalancingSpec[];
  /** How what instances took is shown. Absent: in amounts, and by no label. */
  readonly cost?: CostSpec;
  readonly egress: EgressSpec;
  readonly deployments: DeploymentsSpec;
}

export interface CostSpec {
  readonly prices?: CostPrices;
  /** Labels of namespaces by which it can be asked what was taken. */
  readonly labels?: readonly string[];
}

/** In whatever unit; both are 0 or more. */
export interface CostPrices {
  readonly cpuCoreHour: number;
  readonly memoryGibHour: number;
}

export interface EngineClusterSpec {
  readonly name: string;
  readonly region: string;
  /** Exactly one of the two: the cluster Argosy itself runs in, or a Secret `namespace/name` with key `kubeconfig`. */
  readonly access: { readonly kind: "inCluster" } | { readonly kind: "secret"; readonly secret: string };
  /** How metrics of pods there are read: at their addresses, or through the API server. Absent: by address in the own cluster only. */
  readonly reach?: "address" | "proxy";
}

export interface CatalogueEntry {
  readonly version: string;
  readonly image: string;
  readonly redisImage: string;
  /** Directory that holds the release's `application-crd.yaml` and `appproject-crd.yaml`. */
  readonly crds: string;
  /** Releases, and minors like `3.5`, from which the way to this one was tried; absent: its own minor and the one before. */
  readonly upgradesFrom?: readonly string[];
}

/** Releases for those who want them sooner, or later, than others. */
export interface ChannelSpec {
  readonly name: string;
  readonly default: string;
  /** Those its pools may have, the default among them. */
  readonly versions: readonly string[];
  /** Whether rollouts begin with its pools: what lives there is the cohort that meets a release before all others. Absent: they do not. */
  readonly first?: true;
}

export interface VersionsSpec {
  readonly default: string;
  /** The oldest release that is safe, or one for each supported minor, as `3.5.1 / 3.4.7`. */
  readonly floor: string;
  readonly catalogue: readonly CatalogueEntry[];
  /** Absent: there is one for all. */
  readonly channels?: readonly ChannelSpec[];
}

/** How much checkouts of one repo-server may take where its pool does not say. */
export const USUAL_DISK = "20Gi";

export interface ComponentResources {
  readonly cpu: string;
  readonly memory: string;
}

/** Up to where amounts of a pool's instances are raised by themselves, as quantities. What is absent is not raised. */
export interface ResourceMaximum {
  readonly controller?: { readonly cpu?: string; readonly memory?: string };
  readonly repoServer?: { readonly memory?: string; readonly disk?: string };
}

/** Who may live on a pool's instances: units and instances meet only where all of it is equal. */
export interface PoolClass {
  readonly region: string;
  readonly tier: string;
  readonly trust: string;
  /** The version channel its instances follow; absent: there is one for all. */
  readonly channel?: string;
}

export interface PoolSpec {
  readonly name: string;
  readonly class: PoolClass;
  readonly engineClusters: readonly string[];
  /** Absent `scaling`: there are `min` of them, and more where somebody makes more. `peaks` count with `scaling` alone. */
  readonly instances: { readonly min: number; readonly max: number; readonly scaling?: "auto"; readonly peaks?: readonly Peak[] };
  /** How its instances enter the API cluster; absent: by one entry that their workspaces share. */
  readonly entries?: Exclude<Entries, "shared">;
  readonly version: string | undefined;
  readonly capacity: LoadVector;
  readonly resources: {
    readonly controller: ComponentResources;
    /** `disk`: how much checkouts of repositories may take; absent: {@link USUAL_DISK}. */
    readonly repoServer: ComponentResources & { readonly replicas: number; readonly disk?: string };
    readonly redis: ComponentResources;
    /** Absent: nothing is raised. None is less than what is declared beside it. */
    readonly max?: ResourceMaximum;
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
  /** Labels a namespace must carry to be a workspace; empty with `everyNamespace` only. */
  readonly selector: Readonly<Record<string, string>>;
  /** Every namespace is a workspace but kube-*, Argosy's own and instances'. */
  readonly everyNamespace?: true;
  /** Which class a workspace gets; the first one that fits counts. Absent, or none fits: the class of the first pool. */
  readonly classes?: readonly ClassRule[];
  /** What of an instance's CPU one workspace of a class should take at most. Absent, or the class is not listed: nobody is reported. */
  readonly cpuShares?: readonly CpuShare[];
  /** Which workspaces must not share an instance, and which should. Absent: nothing but classes says so. */
  readonly groups?: readonly GroupRule[];
  readonly quota: DeclaredQuota;
  /** What of the quota is another one for workspaces of a class, each class once. Absent, or the class is not listed: all of it is as for others. */
  readonly classQuotas?: readonly ClassQuota[];
}

/**
 * What becomes of moves that need not be made. off: none is planned, nor does anything leave an overloaded instance. propose: a plan waits for a
 * person. auto: the scheduler carries it out.
 */
export const REBALANCING_MODES = ["off", "propose", "auto"] as const;
export type RebalancingMode = (typeof REBALANCING_MODES)[number];

/** How many moves of a class a declaration allows where it does not say. */
export const USUAL_MOVES = { perHour: 50, perDay: 200 } as const;

/** How instances of one class are evened out. */
export interface RebalancingSpec {
  /** As {@link classOf} writes it; some pool has it. */
  readonly class: string;
  readonly mode: RebalancingMode;
  /** Moves that need not be made, of all plans within one hour and one day; those away from overloaded instances may be four times as many. */
  readonly movesPerHour: number;
  readonly movesPerDay: number;
}

export interface CpuShare {
  /** As {@link classOf} writes it; some pool has it. */
  readonly class: string;
  /** Of what the controller of its instance bears, above 0 and at most 1. */
  readonly share: number;
}

/** Gives workspaces whose namespace has all of these labels a class. */
export interface ClassRule {
  readonly labels: Readonly<Record<string, string>>;
  /** As {@link classOf} writes it; some pool has it. */
  readonly class: string;
}

export interface DeploymentsSpec {
  /**
   * What may be deployed beside the kinds of Kubernetes itself that are listed in `deployable-kinds.ts`: groups, each by its exact name,
   * single resources as `group/resource`, or `*` for every group.
   */
  readonly allowedGroups: readonly string[];
  /** What nobody deploys to the API cluster, whatever is allowed: groups with all below them, and `group/resource`; absent: {@link REFUSED_GROUPS}. */
  readonly refusedGroups?: readonly string[];
}

/** Allows every group that is not refused. */
export const EVERY_GROUP = "*";

/** How the core group of Kubernetes, whose own name is empty, is written in lists of groups. */
export const CORE_GROUP = "core";

/** A declaration as it may be stored: earlier programs wrote less. */
export interface StoredFleetSpec extends Omit<FleetSpec, "deployments"> {
  readonly deployments?: Partial<DeploymentsSpec>;
}

/**
 * A stored declaration as it was meant. Earlier programs knew no `allowedGroups` and allowed all groups, and had no `everyNamespace`: an
 * empty selector meant that. Both are written out, so that what was in force stays in force until it is declared anew.
 */
export function asDeclared(spec: StoredFleetSpec): FleetSpec {
  const { deployments = {}, workspaces } = spec;
  return {
    ...spec,
    workspaces: Object.keys(workspaces.selector).length === 0 ? { ...workspaces, everyNamespace: true } : workspaces,
    deployments: { ...deployments, allowedGroups: deployments.allowedGroups ?? [EVERY_GROUP] },
  };
}

/**
 * Groups of operators that do what an object says with rights of their own, which are more than a user's: deliver (Flux, OLM, Helm
 * controllers, KubeVela), generate (Kyverno, Crossplane, Metacontroller, kro), build and issue (Tekton, cert-manager), make clusters.
 */
export const REFUSED_GROUPS: readonly string[] = [
  ...["cattle.io", "cert-manager.io", "cluster.x-k8s.io", "core.oam.dev", "crossplane.io", "fluxcd.io", "hive.openshift.io", "kro.run"],
  ...["kyverno.io", "metacontroller.k8s.io", "open-cluster-management.io", "operators.coreos.com", "tekton.dev", "upbound.io"],
];

export interface EgressSpec {
  /** Address ranges (CIDR) that may be reached although they are private, loopback or link-local. */
  readonly allow: readonly string[];
  /** Ranges that application controllers alone may reach too: where API servers of engine clusters and the API cluster are; absent: none. */
  readonly apiServers?: readonly string[];
  /** Hosts whose repositories may be read over plain HTTP. */
  readonly http: readonly string[];
  /** Whose certificates are good for a host instead of the public authorities' ones; absent: nobody's. */
  readonly certificateAuthorities?: readonly { readonly host: string; readonly certificates: string }[];
  /** Host keys beside those of the large public hosts, as lines of a known_hosts file; absent: none. */
  readonly sshKnownHosts?: string;
}

/** How a pool's new instances enter the API cluster. */
export function entriesOf({ entries }: Pick<PoolSpec, "entries">): Entries {
  return entries ?? "shared";
}

/** The release that new instances of a pool get. */
export function releaseFor(pool: Pick<PoolSpec, "version" | "class">, versions: VersionsSpec): string {
  const channel = versions.channels?.find(({ name }) => name === pool.class.channel);
  return pool.version ?? channel?.default ?? versions.default;
}

/** The channel that has rollouts begin with instances of this class; `undefined`: they are in no cohort. */
export function cohortOf({ class: key }: { readonly class: string }, versions: VersionsSpec): string | undefined {
  const { channel } = readClass(key);
  return versions.channels?.find(({ name, first }) => name === channel && first === true)?.name;
}

/** The class key of a pool: units and instances meet only within one. */
export function classOf({ class: { region, tier, trust, channel } }: Pick<PoolSpec, "class">): string {
  return [region, tier, trust, ...(channel === undefined ? [] : [channel])].join("/");
}

/** Whether a pool's size is decided by load. */
export function isScaled({ instances }: Pick<PoolSpec, "instances">): boolean {
  return instances.scaling === "auto";
}

/** The pools of a class whose size is decided by load, in the order of the declaration. */
export function scaledPools(pools: readonly PoolSpec[] | undefined, className: string): readonly PoolSpec[] {
  return (pools ?? []).filter((pool) => isScaled(pool) && classOf(pool) === className);
}

/** The pools of a class that let resources of their instances be raised, in the order of the declaration. */
export function raisablePools(pools: readonly PoolSpec[] | undefined, className: string): readonly PoolSpec[] {
  return (pools ?? []).filter((pool) => pool.resources.max !== undefined && classOf(pool) === className);
}

/** Whether all of the wanted labels are there, with the same values. */
export function hasLabels(labels: Readonly<Record<string, string>>, wanted: Readonly<Record<string, string>>): boolean {
  return Object.entries(wanted).every(([label, value]) => labels[label] === value);
}

/** What a class key says; its words hold no slash. What is missing in a key that is none is empty. */
export function readClass(key: string): PoolClass {
  const [region = "", tier = "", trust = "", channel] = key.split("/");
  return { region, tier, trust, ...(channel === undefined ? {} : { channel }) };
}
